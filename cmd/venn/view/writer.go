package view

import (
	"bufio"
	"encoding/json"
	"io"
	"time"
)

// Writer writes a recording whose caller knows the time, such as a simulation. Its errors are the underlying writer's;
// the first one stays.
type Writer struct {
	out   *bufio.Writer
	state state
}

// NewWriter writes the header. The same header and events are the same bytes: Began stays as it is.
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

// Write adds events; t must not be before the last one's. It leaves out events, and single cells of a Held, without
// news.
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

// Flush writes out buffered lines.
func (w *Writer) Flush() error { return w.out.Flush() }
