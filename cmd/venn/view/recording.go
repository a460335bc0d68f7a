package view

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
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

// Recording is a recording in a file, as a Source of the page.
type Recording struct {
	path  string
	lines int
	Cut   bool // the last line is incomplete, and left out
}

// ErrRecording is matched by the error for a file that is no recording.
var ErrRecording = errors.New("view: not a recording")

// Open reads through a recording. Its error matches ErrRecording, or is one of reading the file. A recording that
// was cut short can be shown up to there: see Cut.
func Open(path string) (*Recording, error) {
	r := &Recording{path: path}
	err := r.each(math.MaxInt, func(line json.RawMessage) error {
		if r.lines++; r.lines > 1 {
			return nil
		}
		var h Header
		switch err := json.Unmarshal(line, &h); {
		case err != nil || h.Version < 1:
			return fmt.Errorf("%w: %s does not begin as one", ErrRecording, path)
		case h.Version > Version:
			return fmt.Errorf("%w: %s has version %d, this program reads up to %d: use a newer venn", ErrRecording, path, h.Version, Version)
		}
		return nil
	})
	cut := errors.Is(err, io.ErrUnexpectedEOF)
	switch noJSON := cut || errors.As(err, new(*json.SyntaxError)); {
	case err == nil && r.lines == 0:
		err = fmt.Errorf("%w: %s is empty", ErrRecording, path)
	case noJSON && r.lines == 0:
		err = fmt.Errorf("%w: %s does not begin as one", ErrRecording, path)
	case cut:
		r.Cut, err = true, nil
	case noJSON:
		err = fmt.Errorf("%w: %s: line %d is no JSON", ErrRecording, path, r.lines+1)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Follow calls write with all lines, in batches.
func (r *Recording) Follow(ctx context.Context, write func(lines [][]byte) error) error {
	var batch [][]byte
	size, n := 0, 0
	return r.each(r.lines, func(line json.RawMessage) error {
		batch, size, n = append(batch, append(line, '\n')), size+len(line), n+1
		if size < batchBytes && n < r.lines {
			return nil
		}
		err := write(batch)
		batch, size = nil, 0
		return errors.Join(err, ctx.Err())
	})
}

// each calls f with the lines of the file, up to most of them.
func (r *Recording) each(most int, f func(line json.RawMessage) error) error {
	file, err := os.Open(r.path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	for lines := json.NewDecoder(file); most > 0; most-- {
		var line json.RawMessage
		switch err := lines.Decode(&line); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := f(line); err != nil {
			return err
		}
	}
	return nil
}
