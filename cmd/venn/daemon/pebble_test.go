package daemon

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node/store"
	"github.com/venn-p2p/venn/summary"
)

// lines are what is written, a line a time.
type lines struct {
	mu  sync.Mutex
	got []string
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.got = append(l.got, string(b))
	return len(b), nil
}

func (l *lines) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.got)
}

// TestFullDisk ends a daemon's database whose disk is full: at once or nearly, with few words, and nothing is lost.
func TestFullDisk(t *testing.T) {
	var full atomic.Bool
	fs := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full.Load() && op.Kind.ReadOrWrite() == errorfs.OpIsWrite && strings.HasSuffix(op.Path, ".sst") {
			return syscall.ENOSPC
		}
		return nil
	}))
	r, seed := repo.Repo{Dir: "repo"}, summary.Seed{Network: "test"}
	var said lines
	log := slog.New(slog.NewTextHandler(&said, nil))
	db := must(openPebble(r.Store(), fs, 1<<20, log))
	s := must(store.Open(t.Context(), db, seed))
	const n = 1000
	for i := range n {
		key := fmt.Append(nil, i)
		must(s.Add([][]byte{key}, []summary.Fingerprint{seed.Hasher().Fingerprint(key)}))
	}
	full.Store(true)
	noErr(t, s.Close())
	if err := closePebble(db, 3*flushPause, log); err != nil {
		t.Error(err)
	}
	if all := said.all(); len(all) != 2 || !strings.Contains(all[0], "no space left") {
		t.Errorf("%d lines are logged, want an error and a warning: %q", len(all), all)
	}
	full.Store(false) // it writes out what it has now, and closes
	var again *store.Store
	eventually(t, "the store is opened again", func() bool {
		db, err := openPebble(r.Store(), fs, 1<<20, log)
		if err != nil {
			return false
		}
		t.Cleanup(func() { _ = db.Close() })
		again, err = store.Open(t.Context(), db, seed)
		return err == nil
	})
	t.Cleanup(func() { _ = again.Close() })
	if must(again.Len()) != n {
		t.Errorf("%d keys are left of %d", must(again.Len()), n)
	}
}
