// Package bounded reads what people and other programs wrote: small files, and lists of a line each. It reads no more
// than MaxBytes of either at once.
package bounded

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// MaxBytes is the most bytes of a small file, and of a line.
const MaxBytes = 1 << 20

// ErrTooLong says that a file or a line has more than MaxBytes.
var ErrTooLong = fmt.Errorf("more than %d bytes", MaxBytes)

// ReadFile reads a small file.
func ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err == nil && len(b) > MaxBytes {
		return nil, fmt.Errorf("%s: %w", name, ErrTooLong)
	}
	return b, err
}

// bom precedes the first line of some programs' texts. It is no part of the line.
const bom = "\ufeff"

// Lines calls f with each line and its number, the first 1. A line has no end, \n or \r\n, and is valid until f returns.
// Lines returns the errors of f as they are. Other errors name the file, if it has a name, and the line. What was read
// of a line before an error is no line.
func Lines(name string, r io.Reader, f func(number int, line []byte) error) error {
	in := bufio.NewReaderSize(r, 1<<16)
	var line []byte
	for number := 1; ; number++ {
		var err error
		line, err = appendLine(line[:0], in)
		last := err == io.EOF //nolint:errorlint // an error that wraps io.EOF says that a connection broke
		if last && len(line) == 0 {
			return nil
		}
		switch {
		case err != nil && !last && name == "":
			return err // a program's, which may concern no line
		case err != nil && !last:
			return At(name, number, err)
		}
		whole := bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if number == 1 {
			whole = bytes.TrimPrefix(whole, []byte(bom))
		}
		if len(whole) > MaxBytes {
			return At(name, number, ErrTooLong)
		}
		if err := f(number, whole); err != nil || last {
			return err
		}
	}
}

// appendLine reads the rest of a line, its end included, or the first bytes of a line that is too long.
func appendLine(line []byte, in *bufio.Reader) ([]byte, error) {
	for {
		piece, err := in.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		case len(line) > MaxBytes+len(bom+"\r"):
			return line, nil
		}
	}
}

// At adds the file and the line to an error. Without the name of a file it adds the line alone.
func At(name string, number int, err error) error {
	if name == "" {
		return fmt.Errorf("line %d: %w", number, err)
	}
	return fmt.Errorf("%s:%d: %w", name, number, err)
}
