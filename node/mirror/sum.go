package mirror

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"regexp"
	"strings"

	mh "github.com/multiformats/go-multihash"
	"golang.org/x/mod/sumdb/dirhash"
)

// Sum identifies content, as KIND-HEX: a SHA-256 hash, and the kind of data that was hashed. It names the content's
// file in the cache, and its path at peers. The zero Sum identifies nothing.
type Sum string

const (
	kindPlain = "sha256" // the bytes
	kindGoZip = "gozip"  // the list of a Go module's files with their hashes, as in go.sum
	kindName  = "name"   // a name: the content is a record, which stays here
)

var form = regexp.MustCompile("^(sha256|gozip|name)-[0-9a-f]{64}$")

// ParseSum returns the sum that a text spells.
func ParseSum(text string) (Sum, error) {
	if !form.MatchString(text) {
		return "", fmt.Errorf("%w: %.80q", errSum, text)
	}
	return Sum(text), nil
}

// plainSum returns the sum of content by the lower-case hex digits of its SHA-256 hash.
func plainSum(digits string) (Sum, error) { return ParseSum(kindPlain + "-" + digits) }

// goSum returns the sum of a module by its hash as it stands in go.sum.
func goSum(h1 string) (Sum, error) {
	digits, ok := strings.CutPrefix(h1, "h1:")
	b, err := base64.StdEncoding.DecodeString(digits)
	if !ok || err != nil {
		return "", fmt.Errorf("%w: %.80q is no h1 hash", errSum, h1)
	}
	return ParseSum(kindGoZip + "-" + hex.EncodeToString(b))
}

func (s Sum) kind() string {
	kind, _, _ := strings.Cut(string(s), "-")
	return kind
}

// hash returns the SHA-256 hash.
func (s Sum) hash() []byte {
	b, _ := hex.DecodeString(string(s[strings.Index(string(s), "-")+1:]))
	return b
}

// Key returns the content's key in the network: a multihash.
func (s Sum) Key() []byte {
	key, _ := mh.Encode(s.hash(), mh.SHA2_256) // fails only for unknown codes
	return key
}

// check reads a file. Its error matches errWrong: the content has another sum, or cannot be read. running has hashed
// all bytes of the file; nil: check hashes them. A record is checked when it is read.
func (s Sum) check(f *os.File, size int64, running hash.Hash) (err error) {
	found := s
	switch s.kind() {
	case kindPlain:
		if running == nil {
			running = sha256.New()
			_, err = io.Copy(running, io.NewSectionReader(f, 0, size))
		}
		found = sumOf(kindPlain, [sha256.Size]byte(running.Sum(nil)))
	case kindGoZip:
		found, err = goHash(f, size)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errWrong, err)
	case found != s:
		return errWrong
	}
	return nil
}

func sumOf(kind string, hash [sha256.Size]byte) Sum {
	return Sum(kind + "-" + hex.EncodeToString(hash[:]))
}

// maxGoZip bounds the unpacked size of a module: the go command's limit.
const maxGoZip = 500 << 20

// goHash returns the sum of a module's zip file.
func goHash(f *os.File, size int64) (Sum, error) {
	z, err := zip.NewReader(f, size)
	if err != nil {
		return "", err
	}
	var total uint64
	for _, file := range z.File {
		if total += file.UncompressedSize64; total > maxGoZip || file.UncompressedSize64 > maxGoZip {
			return "", fmt.Errorf("unpacks to more than %d bytes", maxGoZip)
		}
	}
	h1, err := dirhash.HashZip(f.Name(), dirhash.Hash1) // it reads no more of a file than the archive declares
	if err != nil {
		return "", err
	}
	return goSum(h1)
}
