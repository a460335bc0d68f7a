package repo

import (
	"bufio"
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
)

// imported opens a record, and closes it again.
func imported(t *testing.T, r Repo, source string) []string {
	t.Helper()
	i, keys, err := r.OpenImport(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	noErr(t, i.Close())
	return slices.Sorted(maps.Keys(keys))
}

// TestImport holds a record to what was noted, whatever it was cut short by, and to one user at a time.
func TestImport(t *testing.T) {
	r := newRepo(t)
	i, keys, err := r.OpenImport(t.Context(), "there")
	if err != nil || len(keys) > 0 {
		t.Fatal(keys, err)
	}
	if _, _, err := r.OpenImport(t.Context(), "there"); !errors.Is(err, ErrFollowed) {
		t.Errorf("a second time: %v", err)
	}
	if got := imported(t, r, "elsewhere"); len(got) > 0 {
		t.Errorf("another import has %q", got)
	}
	noErr(t, errors.Join(i.Adds([]string{"a", "b", "c"}), i.Removed([]string{"b"}), i.Adds([]string{"d", "a"})))
	must(i.file.WriteString("+torn"))
	noErr(t, i.Close())
	for range 2 { // as it was written, and as it was rewritten
		if got := imported(t, r, "there"); !slices.Equal(got, []string{"a", "c", "d"}) {
			t.Errorf("%q", got)
		}
	}
	noErr(t, os.WriteFile(i.name, []byte("+a\nb\n"), 0o600))
	if _, _, err := r.OpenImport(t.Context(), "there"); err == nil {
		t.Error("a line that is no change was read")
	}
}

// TestHugeImport: a damaged record is refused at its first line that is too long, whatever its size.
func TestHugeImport(t *testing.T) {
	r := newRepo(t)
	i, _, err := r.OpenImport(t.Context(), "there")
	if err != nil {
		t.Fatal(err)
	}
	noErr(t, errors.Join(i.Adds([]string{"a"}), i.file.Truncate(200<<20), i.Close()))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, _, err := r.OpenImport(t.Context(), "there"); !errors.Is(err, bufio.ErrTooLong) {
		t.Errorf("got %.200v", err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 10<<20 {
		t.Errorf("took %d bytes of memory", n)
	}
}

// TestImportStaysShort holds a record to a plain set of keys while keys come and go, and its file to about twice their
// number.
func TestImportStaysShort(t *testing.T) {
	r := newRepo(t)
	i, _, err := r.OpenImport(t.Context(), "there")
	if err != nil {
		t.Fatal(err)
	}
	const batch = 10
	rng, want, next := rand.New(rand.NewPCG(1, 1)), map[string]bool{}, 0
	for step := range 300 {
		var keys []string
		if rng.IntN(200) < 100-len(want) { // about as many come as go
			for range batch {
				next++
				keys = append(keys, strconv.Itoa(next))
				want[keys[len(keys)-1]] = true
			}
			err = i.Adds(keys)
		} else {
			keys = slices.Sorted(maps.Keys(want))[:min(batch, len(want))]
			for _, k := range keys {
				delete(want, k)
			}
			err = i.Removed(keys)
		}
		if err != nil {
			t.Fatal(err)
		}
		b := must(os.ReadFile(i.name))
		if n := bytes.Count(b, []byte("\n")); n > 2*len(want)+3*batch { // before a batch is removed, twice as many; then 10 more of 10 fewer
			t.Fatalf("step %d: %d lines of %d keys", step, n, len(want))
		}
	}
	noErr(t, i.Close())
	if got := imported(t, r, "there"); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
		t.Errorf("%q, want %q", got, slices.Sorted(maps.Keys(want)))
	}
}

// TestImportNotReplaced holds that a failed rewrite neither loses the file nor writes to it, and that the next one
// succeeds.
func TestImportNotReplaced(t *testing.T) {
	r := newRepo(t)
	i, _, err := r.OpenImport(t.Context(), "there")
	if err != nil {
		t.Fatal(err)
	}
	noErr(t, errors.Join(i.Adds([]string{"a", "b", "c"}), i.Removed([]string{"a", "b"})))
	folder := filepath.Dir(i.name)
	noErr(t, os.Rename(folder, folder+".away"))
	for range 2 {
		if err := i.Adds([]string{"d"}); err == nil {
			t.Error("written without a folder")
		}
	}
	noErr(t, os.Rename(folder+".away", folder))
	noErr(t, errors.Join(i.Adds([]string{"e"}), i.Close()))
	if got := imported(t, r, "there"); !slices.Equal(got, []string{"c", "e"}) {
		t.Errorf("%q", got)
	}
}
