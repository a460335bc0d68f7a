package holdings

import (
	"bytes"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Logged is a query of a log.
type Logged[P ~int32] struct {
	At    time.Duration
	Asker P
	Key   uint32
}

// maxLine and maxLogged are the longest line of a log, in bytes, and the most queries.
const (
	maxLine   = 1 << 16
	maxLogged = 10_000_000
)

// shortLines passes on its input until a line is too long: a file that is no table may have no end of line at all.
type shortLines struct {
	r    io.Reader
	line int // bytes of the line that has not ended
}

func (s *shortLines) Read(p []byte) (int, error) {
	n, err := s.r.Read(p[:min(len(p), maxLine)])
	if end := bytes.LastIndexByte(p[:n], '\n'); end >= 0 {
		s.line = n - end - 1
	} else if s.line += n; s.line > maxLine {
		return 0, fmt.Errorf("a line has more than %d bytes", maxLine)
	}
	return n, err
}

// KeyNames reads a key as all logs of queries name it: the key's bytes, their hexadecimal digits after "0x", or "#" and
// the key's number, from 0; a plain number that is no key stands for a number, too. Lookup finds a key by its bytes.
func KeyNames(keys int, lookup func(key []byte) (uint32, bool)) func(string) (uint32, bool) {
	return func(text string) (uint32, bool) {
		if digits, is := strings.CutPrefix(text, "0x"); is {
			if key, err := hex.DecodeString(digits); err == nil {
				return lookup(key)
			}
		}
		if k, known := lookup([]byte(text)); known {
			return k, true
		}
		k, err := strconv.ParseUint(strings.TrimPrefix(text, "#"), 10, 32)
		return uint32(k), err == nil && k < uint64(keys)
	}
}

// ReadLog reads queries from a table of seconds, peer and key, none after an end. Errors name the line.
func ReadLog[P ~int32](r io.Reader, end time.Duration, peer func(string) (P, bool), key func(string) (uint32, bool)) (out []Logged[P], err error) {
	table := csv.NewReader(&shortLines{r: r})
	table.Comment, table.FieldsPerRecord = '#', 3
	for {
		row, err := table.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := table.FieldPos(0)
		if len(out) == maxLogged {
			return nil, fmt.Errorf("line %d: more than %d queries", line, maxLogged)
		}
		seconds, err := strconv.ParseFloat(row[0], 64)
		if err != nil || !(seconds >= 0 && seconds <= end.Seconds()) {
			return nil, fmt.Errorf("line %d: %q is no time from 0 to %v seconds", line, row[0], end.Seconds())
		}
		p, known := peer(row[1])
		if !known {
			return nil, fmt.Errorf("line %d: there is no peer %q", line, row[1])
		}
		k, known := key(row[2])
		if !known {
			return nil, fmt.Errorf("line %d: there is no key %q", line, row[2])
		}
		out = append(out, Logged[P]{time.Duration(seconds * float64(time.Second)), p, k})
	}
}
