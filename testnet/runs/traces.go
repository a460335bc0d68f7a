package runs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// traceFile takes the trace of a run. It has its name when it is whole; a run that breaks off leaves none.
type traceFile struct {
	path string
	file *os.File // nil: no trace is wanted, or it is closed
	*bufio.Writer
}

const partOfTrace = ".part"

// newTrace opens the file for the trace of a run in a folder; "" is none: no trace is wanted.
func newTrace(dir, name string) (t traceFile, err error) {
	if dir == "" {
		return t, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return t, fmt.Errorf("runs: trace: %w", err)
	}
	t.path = filepath.Join(dir, name)
	if t.file, err = os.Create(t.path + partOfTrace); err != nil {
		return t, fmt.Errorf("runs: trace: %w", err)
	}
	t.Writer = bufio.NewWriterSize(t.file, 1<<16)
	return t, nil
}

// writer returns the writer for the simulator's trace; nil: there is none.
func (t *traceFile) writer() io.Writer {
	if t.file == nil {
		return nil
	}
	return t.Writer
}

// keep ends a trace that is whole.
func (t *traceFile) keep() error {
	if t.file == nil {
		return nil
	}
	err := errors.Join(t.Flush(), t.file.Close())
	t.file = nil
	if err == nil {
		err = os.Rename(t.path+partOfTrace, t.path)
	}
	if err != nil {
		return fmt.Errorf("runs: trace: %w", err)
	}
	return nil
}

// drop removes a trace that keep has not ended.
func (t *traceFile) drop() {
	if t.file != nil {
		_ = t.file.Close()
		_ = os.Remove(t.path + partOfTrace)
	}
}
