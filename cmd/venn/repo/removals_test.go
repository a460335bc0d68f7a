package repo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRemovals: the mark outlasts the daemon, and changes with the first removal after somebody may have read it.
func TestRemovals(t *testing.T) {
	r := Repo{t.TempDir()}
	open := func(lost bool) *Removals {
		t.Helper()
		return must(r.OpenRemovals(lost))
	}
	remove := func(m *Removals) (called bool) {
		t.Helper()
		if err := m.Remove(func() error { called = true; return nil }); err != nil || !called {
			t.Fatal(called, err)
		}
		return called
	}
	m := open(false)
	first := m.Mark()
	if first == "" || m.Mark() != first || open(false).Mark() != first {
		t.Errorf("the mark is %q, then %q, then %q: nothing was removed", first, m.Mark(), open(false).Mark())
	}
	remove(m)
	second := open(false).Mark() // as after a crash
	if second == first {
		t.Error("the mark stayed when a key was removed")
	}
	before, _ := os.Stat(m.name)
	remove(m)
	if after, _ := os.Stat(m.name); !after.ModTime().Equal(before.ModTime()) {
		t.Error("a removal writes a mark that nobody has read")
	}
	if m.Mark() != second {
		t.Errorf("the mark is %q here, %q on disk", m.Mark(), second)
	}
	remove(m)
	if open(true).Mark() == m.Mark() || open(false).Mark() == second {
		t.Error("the mark stayed when the store was lost, or when a key was removed")
	}
	refused := errors.New("refused")
	if err := m.Remove(func() error { return refused }); !errors.Is(err, refused) {
		t.Errorf("%v, want the error of what removes", err)
	}
}

// TestCreate: who writes a file is alone with it, and begins at its beginning.
func TestCreate(t *testing.T) {
	name := filepath.Join(t.TempDir(), "run.ndjson")
	f, err := Create(name)
	if err != nil {
		t.Fatal(err)
	}
	must(f.WriteString("a long line"))
	if _, err := Create(name); err == nil || !strings.Contains(err.Error(), name+": another process writes it") {
		t.Errorf("%v, want that the file is in use", err)
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != "a long line" {
		t.Errorf("%q, %v: the one who came second changed it", b, err)
	}
	noErr(t, f.Close())
	if f, err = Create(name); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("%d bytes of before are left, %v", info.Size(), err)
	}
}
