package view

import (
	"bufio"
	"encoding/json"
	"io"
	"time"
)

// Writer writes a recording whose time its caller knows, as that of a simulation. Its errors are those of the writer
// below; the first one stays.
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

// Write adds events of a time that is not before the last one's. What says nothing new is left out, of a Held cell by
// cell.
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

// Flush hands on what is still held back.
func (w *Writer) Flush() error { return w.out.Flush() }
