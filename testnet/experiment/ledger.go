package experiment

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/venn-p2p/venn/testnet/sim"
)

// ledger keeps what the runs of an experiment have found in its folder as it becomes known, a line of JSON each, so that an
// experiment that was interrupted goes on. Without a folder it keeps nothing.
type ledger[T any] struct {
	mu    sync.Mutex
	found map[string]T
	file  *os.File
}

type ledgerLine[T any] struct {
	Run   string `json:"run"`
	Found T      `json:"found"`
}

// openLedger opens the ledger of the named experiment. It makes the folder, and an error says that it can't be written.
func openLedger[T any](dir, name string) (*ledger[T], error) {
	l := &ledger[T]{found: map[string]T{}}
	if dir == "" {
		return l, nil
	}
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		l.file, err = os.OpenFile(filepath.Join(dir, name+".runs.jsonl"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	}
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	if err := l.read(); err != nil {
		l.close()
		return nil, fmt.Errorf("experiment: %s: %w", l.file.Name(), err)
	}
	return l, nil
}

func (l *ledger[T]) read() error {
	lines := bufio.NewReader(l.file)
	for {
		b, err := lines.ReadBytes('\n')
		var line ledgerLine[T]
		if json.Unmarshal(b, &line) == nil { // one cut short by a crash is run again
			l.found[line.Run] = line.Found
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (l *ledger[T]) get(run string) (T, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, ok := l.found[run]
	return found, ok
}

// add notes what a run has found. The line begins with a line break, in case the last one was cut short.
func (l *ledger[T]) add(run string, found T) error {
	if l.file == nil {
		return nil
	}
	b, err := json.Marshal(ledgerLine[T]{run, found})
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		_, err = l.file.Write(append(append([]byte("\n"), b...), '\n'))
	}
	if err != nil {
		return fmt.Errorf("experiment: %w", err)
	}
	return nil
}

func (l *ledger[T]) close() {
	if l.file != nil {
		l.file.Close()
	}
}

// runEach does the runs that the ledger doesn't know, so many at a time, and returns what is known in the end, in their
// order: nil for a run that wasn't done. The first error ends it; what is done by then is kept. A run in which a strategy
// panicked leaves the others: its error comes when these are done.
func runEach[T any](ctx context.Context, runs []string, atOnce int, known *ledger[T], do func(ctx context.Context, i int) (T, error)) ([]*T, error) {
	found := make([]*T, len(runs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	panics := make([]error, len(runs))
	for i, run := range runs {
		if f, ok := known.get(run); ok {
			found[i] = &f
			continue
		}
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			f, err := do(ctx, i)
			if errors.Is(err, sim.ErrPanic) {
				panics[i] = err
				return nil
			}
			if err != nil {
				return err
			}
			found[i] = &f
			return known.add(run, f)
		})
	}
	err := g.Wait()
	return found, errors.Join(append(panics, err)...)
}

// recent makes what several runs share, and keeps the last few of it: runs that share something follow each other.
type recent[T any] struct {
	keep int
	mu   sync.Mutex
	keys []string
	made map[string]func() (T, error)
}

func (r *recent[T]) get(key string, do func() (T, error)) (T, error) {
	r.mu.Lock()
	get := r.made[key]
	if get == nil {
		if r.made == nil {
			r.made = map[string]func() (T, error){}
		}
		get = sync.OnceValues(do)
		r.made[key] = get
		if r.keys = append(r.keys, key); len(r.keys) > r.keep {
			delete(r.made, r.keys[0])
			r.keys = r.keys[1:]
		}
	}
	r.mu.Unlock()
	return get()
}

// runID names a run by all that it follows from: the exported fields of a setting, and the program.
func runID(setting any) string {
	b, err := json.Marshal(setting)
	if err != nil {
		panic(err) // numbers and strings
	}
	return fmt.Sprintf("%s by %s", b, program())
}

// program stands for the program that runs, to the byte: another one, with a strategy changed, may find something else.
// Empty when it can't be read.
var program = sync.OnceValue(func() string {
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

// sumOf is the SHA-256 of a file.
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
