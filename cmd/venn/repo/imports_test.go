package repo

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
)

// imported opens a record, and closes it again.
func imported(t *testing.T, r Repo, source string) []string {
	t.Helper()
	i, keys, err := r.OpenImport(source)
	if err != nil {
		t.Fatal(err)
	}
	if err := i.Close(); err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(keys))
}

// TestImport holds a record to what was noted, whatever it was cut short by, and to one user at a time.
func TestImport(t *testing.T) {
	r := newRepo(t)
	i, keys, err := r.OpenImport("there")
	if err != nil || len(keys) > 0 {
		t.Fatal(keys, err)
	}
	if _, _, err := r.OpenImport("there"); !errors.Is(err, ErrFollowed) {
		t.Errorf("a second time: %v", err)
	}
	if got := imported(t, r, "elsewhere"); len(got) > 0 {
		t.Errorf("another import has %q", got)
	}
	if err := errors.Join(i.Adds([]string{"a", "b", "c"}), i.Removed([]string{"b"}), i.Adds([]string{"d", "a"})); err != nil {
		t.Fatal(err)
	}
	if _, err := i.file.WriteString("+torn"); err != nil {
		t.Fatal(err)
	}
	if err := i.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // as it was written, and as it was written anew
		if got := imported(t, r, "there"); !slices.Equal(got, []string{"a", "c", "d"}) {
			t.Errorf("%q", got)
		}
	}
	if err := os.WriteFile(i.name, []byte("+a\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.OpenImport("there"); err == nil {
		t.Error("a line that is no change was read")
	}
}

func ExampleRepo_OpenImport() {
	dir, err := os.MkdirTemp("", "venn")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	r := Repo{dir}
	for range 2 {
		i, keys, err := r.OpenImport("a node")
		if err != nil {
			panic(err)
		}
		fmt.Println(keys)
		if err := errors.Join(i.Adds([]string{"key"}), i.Close()); err != nil {
			panic(err)
		}
	}
	// Output:
	// map[]
	// map[key:true]
}
