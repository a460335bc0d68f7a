package view

import (
	"bufio"
	"encoding/json"
	"io"
	"time"
)

// Writer writes a recording whose times its caller sets, such as a simulation. An error is the underlying writer's;
// after one, all later calls return it.
type Writer struct {
	out   *bufio.Writer
	state state
}

// NewWriter returns a Writer, and writes the header. It does not set Began, so the same header and events give the
// same bytes.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	h.Version = Version
	line, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	_, err = out.Write(append(line, '\n'))
	return &Writer{out, newState()}, err
}

// Write writes events at a time, which must not be before the last one's. It leaves out events, and single cells of
// a Held, that have no news.
func (w *Writer) Write(t time.Duration, events ...Event) error {
	for _, e := range events {
		e, ok := w.state.take(e)
		if !ok {
			continue
		}
		if _, err := w.out.Write(encode(e, t)); err != nil {
			return err
		}
	}
	return nil
}

// Flush writes the buffered lines.
func (w *Writer) Flush() error { return w.out.Flush() }
