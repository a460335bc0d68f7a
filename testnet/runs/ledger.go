package runs

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/venn-p2p/venn/testnet/scenario"
)

// Ledger keeps the results of an experiment's runs in its folder as they become known, one line of JSON each. So an
// interrupted experiment can continue. Without a folder it keeps nothing.
type Ledger[T any] struct {
	sweep string // identifies the set of all runs, see sweepID
	mu    sync.Mutex
	found map[string]T
	lines io.Writer // nil: nothing is kept
	file  *os.File  // file that lines are written to; nil when they go elsewhere
}

type ledgerLine[T any] struct {
	Sweep string `json:"sweep"` // identifies the set of all runs of the experiment, see sweepID
	Run   string `json:"run"`
	Found T      `json:"found"`
}

// Open opens the ledger of the named experiment, which has the given runs, and reads the ledgers of all its parts.
// It makes the folder if it is missing. An error comes from reading or writing the folder. It matches ErrOptions if
// the ledger of a part has other runs, of another program or with other options.
func Open[T any](dir, name string, w Work, runs []string) (*Ledger[T], error) {
	l := &Ledger[T]{sweep: sweepID(runs), found: map[string]T{}}
	if w.Lines != nil {
		l.lines = w.Lines
		return l, nil
	}
	if dir == "" {
		return l, nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	for _, e := range entries {
		if n := e.Name(); strings.HasPrefix(n, name+".runs") && strings.HasSuffix(n, ".jsonl") {
			if err := l.readFile(filepath.Join(dir, n), n != Part{}.file(name)); err != nil {
				return nil, fmt.Errorf("runs: %w", err)
			}
		}
	}
	l.file, err = os.OpenFile(filepath.Join(dir, w.Part.file(name)), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	l.lines = l.file
	return l, nil
}

// readFile reads a ledger. In the ledger of a part all lines must be of this sweep. The ledger without parts may
// have lines of other sweeps.
func (l *Ledger[T]) readFile(path string, part bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	other, err := l.read(f)
	if err == nil && other && part {
		err = fmt.Errorf("%w: %s is of another program or of other options: remove it, or choose another folder", ErrOptions, path)
	}
	return err
}

// read notes the results in the lines of a ledger, and reports whether some are of another sweep. It ignores a line
// that a crash cut short, so that run is done again.
func (l *Ledger[T]) read(r io.Reader) (other bool, err error) {
	lines := bufio.NewReader(r)
	for {
		b, err := lines.ReadBytes('\n')
		var line ledgerLine[json.RawMessage]
		if json.Unmarshal(b, &line) == nil && line.Run != "" {
			other = other || line.Sweep != l.sweep
			var found T
			if json.Unmarshal(line.Found, &found) == nil {
				l.found[line.Run] = found
			}
		}
		if errors.Is(err, io.EOF) {
			return other, nil
		}
		if err != nil {
			return other, err
		}
	}
}

// Get returns the result of a run, if it is known.
func (l *Ledger[T]) Get(run string) (T, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, ok := l.found[run]
	return found, ok
}

// Add writes the result of a run. It begins with a line break, in case the line before was cut short.
func (l *Ledger[T]) Add(run string, found T) error {
	if l.lines == nil {
		return nil
	}
	b, err := json.Marshal(ledgerLine[T]{l.sweep, run, found})
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		_, err = l.lines.Write(append(append([]byte("\n"), b...), '\n'))
	}
	if err != nil {
		return fmt.Errorf("runs: %w", err)
	}
	return nil
}

// Close closes the file.
func (l *Ledger[T]) Close() {
	if l.file != nil {
		l.file.Close()
	}
}

// Recent makes values that several runs share, and keeps the latest few. It suits runs that follow each other when
// they share a value.
type Recent[T any] struct {
	Keep int // number of values kept; at least 1
	mu   sync.Mutex
	keys []string
	made map[string]func() (T, error)
}

// Get returns the value of a key. If it is not kept, do makes it.
func (r *Recent[T]) Get(key string, do func() (T, error)) (T, error) {
	r.mu.Lock()
	get := r.made[key]
	if get == nil {
		if r.made == nil {
			r.made = map[string]func() (T, error){}
		}
		get = sync.OnceValues(do)
		r.made[key] = get
		if r.keys = append(r.keys, key); len(r.keys) > r.Keep {
			delete(r.made, r.keys[0])
			r.keys = r.keys[1:]
		}
	}
	r.mu.Unlock()
	return get()
}

// ID returns a name for a run. It has all that the result follows from: the exported fields of setting, and the
// program.
func ID(setting any) string {
	b, err := json.Marshal(setting)
	if err != nil {
		panic(err) // cannot fail for numbers and strings
	}
	return fmt.Sprintf("%s by %s", b, Program())
}

// Program returns a hash of the running program's bytes: another program, with a changed strategy, may have other
// results. It returns "" if the file cannot be read.
var Program = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	sum, err := sumOf(path)
	if err != nil {
		return ""
	}
	return hex.EncodeToString(sum[:8])
})

// sumOf returns the SHA-256 of a file.
func sumOf(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return h.Sum(nil), err
}

// Contents returns a hash of the files of a data set: with changed files a run has other results. It returns "" for
// debian, which is a part of the program.
func Contents(data string) (string, error) {
	if data == scenario.Debian {
		return "", nil
	}
	files := []string{data}
	if entries, err := os.ReadDir(data); err == nil {
		files = nil
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".") { // package workload ignores them
				files = append(files, filepath.Join(data, e.Name()))
			}
		}
	}
	h := sha256.New()
	for _, f := range files {
		sum, err := sumOf(f)
		if err != nil {
			return "", fmt.Errorf("runs: %w", err)
		}
		fmt.Fprintf(h, "%q %x\n", filepath.Base(f), sum)
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}
