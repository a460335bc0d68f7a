package runs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// traceFile is the file for the trace of a run. It gets its final name when the trace is complete; an interrupted
// run leaves no file.
type traceFile struct {
	path string
	file *os.File // nil: no trace is wanted, or the file is closed
	*bufio.Writer
}

const partOfTrace = ".part"

// newTrace creates the file for the trace of a run in a folder. dir "" means that no trace is wanted.
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

// keep closes the file of a complete trace, and gives it its final name.
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

// drop removes the file, unless keep has closed it.
func (t *traceFile) drop() {
	if t.file != nil {
		_ = t.file.Close()
		_ = os.Remove(t.path + partOfTrace)
	}
}
