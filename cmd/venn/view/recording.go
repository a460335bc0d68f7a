package view

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Record writes all lines of a feed to w until the feed is closed or ctx ends.
func Record(ctx context.Context, f *Feed, w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	err := f.follow(ctx, func(lines [][]byte) error {
		for _, l := range lines {
			if _, err := out.Write(l); err != nil {
				return err
			}
		}
		return out.Flush()
	}, false)
	return errors.Join(err, out.Flush())
}

// maxLine bounds a line of a recording.
const maxLine = 64 << 20

// Recording is a recording in a file, to be viewed.
type Recording struct {
	path  string
	lines int
	Cut   bool // the last line is not whole, and left out
}

// ErrRecording means that a file is no recording.
var ErrRecording = errors.New("view: not a recording")

// Open looks through a recording. It returns ErrRecording, or an error of reading the file. A recording that was cut
// short is right up to there: see Cut.
func Open(path string) (*Recording, error) {
	r := &Recording{path: path}
	first := true
	err := eachLine(path, func(line []byte, whole bool) error {
		switch {
		case first:
			first = false
			var h Header
			if err := json.Unmarshal(line, &h); err != nil || h.Version < 1 {
				return fmt.Errorf("%w: %s does not begin as one", ErrRecording, path)
			}
			if h.Version > Version {
				return fmt.Errorf("%w: %s has version %d, this program reads up to %d: use a newer venn", ErrRecording, path, h.Version, Version)
			}
		case !whole:
			r.Cut = true
			return nil
		case !json.Valid(line):
			return fmt.Errorf("%w: %s: line %d is no JSON", ErrRecording, path, r.lines+1)
		}
		r.lines++
		return nil
	})
	if err == nil && first {
		err = fmt.Errorf("%w: %s is empty", ErrRecording, path)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Follow gives all lines to write.
func (r *Recording) Follow(ctx context.Context, write func(lines [][]byte) error) error {
	var batch [][]byte
	size, n := 0, 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := write(batch)
		batch, size = nil, 0
		return errors.Join(err, ctx.Err())
	}
	err := eachLine(r.path, func(line []byte, whole bool) error {
		if n++; n > r.lines || !whole {
			return nil
		}
		batch = append(batch, append([]byte(nil), line...))
		if size += len(line); size > batchBytes {
			return flush()
		}
		return nil
	})
	return errors.Join(err, flush())
}

// eachLine calls f with every line of a file, with its line break. A line without one is not whole.
func eachLine(path string, f func(line []byte, whole bool) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	in := bufio.NewReaderSize(file, 1<<20)
	var long []byte
	for {
		part, err := in.ReadSlice('\n')
		long = append(long, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull) && len(long) <= maxLine:
			continue
		case errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("%w: %s has a line of more than %d bytes", ErrRecording, path, maxLine)
		case err != nil && !errors.Is(err, io.EOF):
			return err
		}
		if len(long) > 0 {
			if err := f(long, err == nil); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
		long = long[:0]
	}
}
