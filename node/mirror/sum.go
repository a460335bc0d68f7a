package mirror

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"

	mh "github.com/multiformats/go-multihash"
	"golang.org/x/mod/sumdb/dirhash"
)

// Kind is the kind of data that a Sum is the hash of.
type Kind uint8

const (
	Plain Kind = iota // the bytes
	GoZip             // the list of a Go module's files with their hashes, as in go.sum
	Name              // a name: the content is a record, which stays here
)

var kinds = [...]string{"sha256", "gozip", "name"}

// Sum identifies content: a SHA-256 hash, and the kind of data that it is the hash of.
type Sum struct {
	Kind Kind
	Hash [sha256.Size]byte
}

// errSum says that a text is no sum.
var errSum = errors.New("mirror: no sum")

// Key returns the content's key in the network: a multihash.
func (s Sum) Key() []byte {
	key, err := mh.Encode(s.Hash[:], mh.SHA2_256)
	if err != nil {
		panic(err) // the code and the length are right
	}
	return key
}

// String returns the sum as KIND-HEX. It is the name of its file, and of its path at peers.
func (s Sum) String() string { return kinds[s.Kind] + "-" + hex.EncodeToString(s.Hash[:]) }

// MarshalText has a Sum stand in JSON as String returns it.
func (s Sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText parses the form of String.
func (s *Sum) UnmarshalText(text []byte) (err error) {
	*s, err = ParseSum(string(text))
	return err
}

// ParseSum parses the form of String.
func ParseSum(text string) (Sum, error) {
	for kind, name := range kinds {
		if digits, ok := strings.CutPrefix(text, name+"-"); ok {
			return parseHex(Kind(kind), digits)
		}
	}
	return Sum{}, fmt.Errorf("%w: %.80q", errSum, text)
}

// parseHex reads the lower-case hex digits of a sum.
func parseHex(kind Kind, digits string) (s Sum, err error) {
	b, err := hex.DecodeString(digits)
	if err != nil || len(b) != len(s.Hash) || strings.ToLower(digits) != digits {
		return s, fmt.Errorf("%w: %.80q is not %d lower-case hex digits", errSum, digits, 2*len(s.Hash))
	}
	return Sum{kind, [32]byte(b)}, nil
}

// parseH1 reads a module's hash as it stands in go.sum.
func parseH1(text string) (s Sum, err error) {
	digits, ok := strings.CutPrefix(text, "h1:")
	b, err := base64.StdEncoding.DecodeString(digits)
	if !ok || err != nil || len(b) != len(s.Hash) {
		return s, fmt.Errorf("%w: %.80q is no h1 hash", errSum, text)
	}
	return Sum{GoZip, [32]byte(b)}, nil
}

// check reads a file and reports by errWrong that its content has another sum. running is the hash of all bytes, if
// that is known already.
func (s Sum) check(f *os.File, size int64, running hash.Hash) (err error) {
	all, found := io.NewSectionReader(f, 0, size), Sum{Kind: s.Kind}
	switch s.Kind {
	case Plain:
		if running == nil {
			running = sha256.New()
			_, err = io.Copy(running, all)
		}
		running.Sum(found.Hash[:0])
	case Name:
		var r record
		r, err = readRecord(all)
		found = r.sum()
	default:
		var h1 string
		if h1, err = goHash(f, size); err == nil {
			found, err = parseH1(h1)
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errWrong, err)
	case found != s:
		return errWrong
	}
	return nil
}

// maxGoZip bounds the unpacked size of a module: the go command's limit.
const maxGoZip = 500 << 20

// goHash returns the h1 hash of a module.
func goHash(f *os.File, size int64) (string, error) {
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
	return dirhash.HashZip(f.Name(), dirhash.Hash1) // it reads no more of a file than the archive declares
}
