package daemon

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	ds "github.com/ipfs/go-datastore"

	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node/store"
)

// older are the commits whose stores are in testdata, written by .ci/stores, and what those programs could keep.
var older = []struct {
	commit          string
	private, backup bool
}{
	{"9ce38aa5", false, false},
	{"0d228291", true, false},
	{"4e884e4d", true, true},
	{"f6a69eb5", true, true},
}

// unpack writes the folder of a peer that an older program has left.
func unpack(t *testing.T, commit string) repo.Repo {
	t.Helper()
	dir := t.TempDir()
	archive := must(gzip.NewReader(bytes.NewReader(must(os.ReadFile(filepath.Join("testdata", "stores", commit+".tar.gz"))))))
	for files := tar.NewReader(archive); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return must(repo.Open(dir))
		}
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.FileInfo().IsDir() {
			err = os.MkdirAll(name, 0o700)
		} else {
			err = os.WriteFile(name, must(io.ReadAll(files)), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// keysOf opens the store of a repository, and returns its keys, its private keys and how many peers it knows.
func keysOf(t *testing.T, r repo.Repo) (keys, private []string, peers int) {
	t.Helper()
	d := daemon{repo: r, cfg: must(r.Config()), log: slog.New(slog.DiscardHandler)}
	noErr(t, d.openStore(t.Context()))
	defer func() {
		if err := d.close(); err != nil {
			t.Error(err)
		}
	}()
	list := func(s *store.Store) (all []string) {
		for k, err := range s.Keys(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, string(k))
		}
		slices.Sort(all)
		return all
	}
	return list(d.store), list(d.store.Private()), len(d.store.Peers())
}

// TestOlderStores opens what older programs have left, that were killed with keys in their log alone. All keys and peers
// are there, before and after today's backup of them, and in the backup that the older program made.
func TestOlderStores(t *testing.T) {
	want := []string{"killed"}
	for i := range 100 {
		want = append(want, fmt.Sprint("key-", i+1))
	}
	slices.Sort(want)
	for _, o := range older {
		t.Run(o.commit, func(t *testing.T) {
			var hidden []string
			if o.private {
				hidden = []string{"private-1", "private-2"}
			}
			r := unpack(t, o.commit)
			if _, err := r.Identity(); err != nil {
				t.Error(err)
			}
			check := func(what string, r repo.Repo, want []string, wantPeers int) {
				t.Helper()
				if keys, private, peers := keysOf(t, r); !slices.Equal(keys, want) || !slices.Equal(private, hidden) || peers != wantPeers {
					t.Errorf("%s: %d keys, want %d, private ones %q, and %d peers", what, len(keys), len(want), private, peers)
				}
			}
			for _, what := range []string{"opened", "opened again"} {
				check(what, r, want, 1)
			}
			var backup bytes.Buffer
			noErr(t, Backup(t.Context(), r, &backup, func(int) {}, slog.New(slog.DiscardHandler)))
			restored := func(b []byte) repo.Repo {
				fresh := newRepo(t)
				must(Restore(t.Context(), fresh, bytes.NewReader(b), slog.New(slog.DiscardHandler)))
				return fresh
			}
			check("today's backup", restored(backup.Bytes()), want, 1)
			if o.backup { // of before the first key after it, and before the first peer was saved
				older := must(os.ReadFile(filepath.Join(r.Dir, "backup")))
				check("the older backup", restored(older), slices.DeleteFunc(slices.Clone(want), func(k string) bool { return k == "killed" }), 0)
			}
		})
	}
}

// TestNewerStore: the store and the backup of a newer program are refused in one line that names the way back.
func TestNewerStore(t *testing.T) {
	r := newRepo(t)
	keysOf(t, r)
	db := must(openPebble(r.Store(), nil, 1<<20, slog.New(slog.DiscardHandler)))
	noErr(t, errors.Join(db.Put(t.Context(), ds.NewKey("/version"), []byte("2")), db.Close()))
	err := Backup(t.Context(), r, io.Discard, func(int) {}, slog.New(slog.DiscardHandler))
	if !errors.Is(err, store.ErrVersion) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "restore a backup") {
		t.Errorf("the store: %v", err)
	}
	if _, err = Restore(t.Context(), newRepo(t), strings.NewReader("venn backup 2\nsomething"), slog.New(slog.DiscardHandler)); !errors.Is(err, store.ErrVersion) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "newer program") {
		t.Errorf("the backup: %v", err)
	}
}
