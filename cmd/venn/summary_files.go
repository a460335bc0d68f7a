package main

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strconv"

	"github.com/venn-p2p/venn/node/signed"

	"github.com/urfave/cli/v3"
	"golang.org/x/term"

	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node/bounded"
	"github.com/venn-p2p/venn/summary"
)

// openedSummary is a summary from a file, verified.
type openedSummary struct {
	file   summary.File
	prefix *summary.Prefix
}

// opened returns the summary of a signed header and the parts held.
func opened(envelope []byte, p *summary.Prefix) *openedSummary {
	r, _ := p.Run(0, p.Parts()) // no error: p holds these parts
	return &openedSummary{summary.File{Envelope: envelope, Run: r}, p}
}

const (
	fileHead = 6                        // bytes that tell the kind and the version of a file
	maxFile  = 2<<10 + 1<<14*(64<<10+4) // bytes of the largest file: a signed header and 2^14 parts of 64 KiB
)

// errDelta means that a file is a delta where a command wants a summary.
var errDelta = errors.New("a delta, not a summary")

// sizes returns the size of the file cut to its first 0, 1, … parts, and the offset of each part, in bytes.
func (f *openedSummary) sizes() (sizes, offsets []int) {
	count := func(v int) int { return len(binary.AppendUvarint(nil, uint64(v))) }
	head := len(summary.File{Envelope: f.file.Envelope}.AppendBinary(nil)) - count(0)
	sizes = []int{head + count(0)}
	bytes := 0
	for i, p := range f.file.Run.Parts {
		bytes += count(len(p)) + len(p)
		sizes = append(sizes, head+count(i+1)+bytes)
	}
	at := head - sha256.Size + count(len(f.file.Run.Parts)) // the run ends with a hash
	for _, p := range f.file.Run.Parts {
		at += count(len(p))
		offsets = append(offsets, at)
		at += len(p)
	}
	return sizes, offsets
}

// readInput reads a summary or a delta from a file or stdin. It reads no more than the first bytes of anything else.
func readInput(c *cli.Command, name string) ([]byte, error) {
	r, err := input(c, name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	buffered := bufio.NewReader(r)
	head, err := buffered.Peek(fileHead)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if _, err := summary.ParseFile(head); errors.Is(err, summary.ErrKind) || errors.Is(err, summary.ErrVersion) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	b, err := io.ReadAll(io.LimitReader(buffered, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = fmt.Errorf("%s: more than %d bytes", name, maxFile)
	}
	return b, err
}

// input opens a file, or stdin for "-".
func input(c *cli.Command, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(c.Root().Reader), nil
	}
	return os.Open(name)
}

// openSummary reads a summary, its signature and chain verified.
func openSummary(c *cli.Command, name string) (*openedSummary, error) {
	b, err := readInput(c, name)
	if err != nil {
		return nil, err
	}
	f, err := parseSigned(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

// parseSigned parses a summary with a valid signature.
func parseSigned(b []byte) (*openedSummary, error) {
	f, signature, err := parseSummary(b)
	return f, cmp.Or(err, signature)
}

// parseSummary parses a summary. If only its signature is not valid, it returns f, and signature is the error.
func parseSummary(b []byte) (f *openedSummary, signature, err error) {
	file, err := summary.ParseFile(b)
	if err != nil {
		return nil, nil, err
	}
	if file.Delta != nil {
		return nil, nil, errDelta
	}
	h, signature := signed.OpenHeader(file.Envelope)
	if signature != nil {
		if h, _, _, _, err = summary.ParseSigned(file.Envelope); err != nil {
			return nil, nil, signature
		}
	}
	p, err := summary.NewPrefix(h)
	if err != nil {
		return nil, nil, err
	}
	if p, err = p.Extend(file.Run); err != nil {
		return nil, nil, err
	}
	return &openedSummary{file, p}, signature, nil
}

// cut returns f with its first parts only.
func (f *openedSummary) cut(parts int) *openedSummary {
	return opened(f.file.Envelope, f.prefix.Truncate(parts))
}

// partsWithin returns the number of parts that fit in a file of this size in bytes, at least one.
func (f *openedSummary) partsWithin(bytes int) (int, error) {
	sizes, _ := f.sizes()
	parts := sort.SearchInts(sizes, bytes+1) - 1
	if parts < 1 && len(sizes) > 1 {
		return 0, fmt.Errorf("%d bytes do not hold the header and the first part: they take %d", bytes, sizes[1])
	}
	return max(parts, 0), nil
}

// writeOut writes to stdout, or to a file: whole or not at all.
func writeOut(c *cli.Command, name string, b []byte) error {
	if name != "-" {
		return writeWhole(name, b)
	}
	w := c.Root().Writer
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return usageError(errors.New("a terminal is no place for these bytes: use -o FILE, or a pipe"))
	}
	_, err := w.Write(b)
	return err
}

// writeWhole replaces a regular file, or the target of a symbolic link, whole or not at all. It writes directly to
// anything else, such as a pipe.
func writeWhole(name string, b []byte) error {
	if to, err := filepath.EvalSymlinks(name); err == nil {
		name = to
	}
	mode := fs.FileMode(0o666)
	if info, err := os.Stat(name); err == nil {
		if !info.Mode().IsRegular() {
			return os.WriteFile(name, b, 0)
		}
		mode = info.Mode().Perm()
	}
	return repo.WriteFile(name, mode, func(w io.Writer) error { _, err := w.Write(b); return err })
}

// eachKeyIn does the same as eachKey for the keys in a file, or on stdin for "-" and no name.
func eachKeyIn(c *cli.Command, name string, f func(key []byte) error) error {
	name = cmp.Or(name, "-")
	r, err := input(c, name)
	if err != nil {
		return err
	}
	defer r.Close()
	return eachKey(name, r, func(_ int, key []byte) error { return f(key) })
}

// eachKey calls f for every line that is not empty, with its number. The key is valid until f returns.
func eachKey(name string, r io.Reader, f func(number int, key []byte) error) error {
	return eachLine(name, r, func(number int, line []byte) error {
		if len(line) == 0 {
			return nil
		}
		return f(number, line)
	})
}

// eachLine calls f for every line of a file, or of stdin for "-".
func eachLine(name string, r io.Reader, f func(number int, line []byte) error) error {
	if name == "-" {
		name = "" // errors name the line alone
	}
	err := bounded.Lines(name, r, f)
	if errors.Is(err, bounded.ErrTooLong) {
		err = usageError(fmt.Errorf("%w: it is no key", err))
	}
	return err
}

// maybe is a number that may be missing (NaN or infinite): null in JSON, a dash for people.
type maybe float64

func (m maybe) missing() bool { return math.IsNaN(float64(m)) || math.IsInf(float64(m), 0) }

func (m maybe) MarshalJSON() ([]byte, error) {
	if m.missing() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(m))
}

func (m maybe) String() string { return m.digits(3) }

// digits formats m with n digits after the point.
func (m maybe) digits(n int) string {
	if m.missing() {
		return "-"
	}
	return strconv.FormatFloat(float64(m), 'f', n, 64)
}

// perKey returns the bits a key of a number of bytes for n keys.
func perKey(bytes, n int) maybe { return maybe(8 * float64(bytes) / float64(n)) }
