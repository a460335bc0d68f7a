package workload

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/venn-p2p/venn/node/bounded"
)

const (
	hashA = "976d78e43032e1c81151e4c04ccc19c508eeb592c0e55eabd8c57b9886ca8808"
	hashB = "a09ef1f7a460ca1a4220fe6372c99f2d71df8f673da62b8bfb872982fef918df"
	good  = "# peers: a b\n" + hashA + "\tx.deb\t100\t0,1\n" + hashB + "\ty.deb\t40000\t1\n"
)

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadTable(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write([]byte(good))
	z.Close()
	for _, path := range []string{write(t, "d.tsv", good), write(t, "d.tsv.gz", zipped.String())} {
		d := load(t, Config{Path: path})
		if d.Keys() != 1+3 || d.Holdings() != 2+3 {
			t.Errorf("%d keys and %d holdings, want 4 and 5", d.Keys(), d.Holdings())
		}
	}
}

func TestBadTables(t *testing.T) {
	line := func(columns ...string) string { return "# peers: a b\n" + strings.Join(columns, "\t") + "\n" }
	for _, c := range []struct {
		name, text string
		is         error
		says       string
	}{
		{"columns", line(hashA, "x", "1"), ErrMalformed, "d.tsv:2: malformed line: 3 columns"},
		{"hash", line("xyz", "x", "1", "0"), ErrMalformed, `d.tsv:2: malformed line: "xyz" is no SHA-256`},
		{"short hash", line("abcd", "x", "1", "0"), ErrMalformed, `"abcd" is no SHA-256`},
		{"size", line(hashA, "x", "-1", "0"), ErrMalformed, `size "-1"`},
		{"no size", line(hashA, "x", "0", "0"), ErrMalformed, `size "0"`},
		{"huge size", line(hashA, "x", "99999999999999999", "0"), ErrMalformed, "size"},
		{"holder", line(hashA, "x", "1", "0,2"), ErrMalformed, `holder "2" is no peer from 0 to 1`},
		{"no holder", line(hashA, "x", "1", ""), ErrMalformed, `holder ""`},
		{"holder twice", line(hashA, "x", "1", "1,0,1"), ErrMalformed, "a holder twice"},
		{"file twice", good + hashA + "\tx\t1\t0\n", ErrMalformed, "d.tsv:4: malformed line: the file of line 2 again"},
		{"no peers", hashA + "\tx\t1\t0\n", ErrMalformed, `d.tsv:1: malformed line: a file before the line "# peers: …"`},
		{"nothing", "", ErrMalformed, "d.tsv: malformed line: no line"},
		{"peers twice", "# peers: a\n# peers: b\n", ErrMalformed, "d.tsv:2: malformed line: a second list"},
		{"peers empty", "# peers:\n", ErrMalformed, "d.tsv:1: malformed line: the list of peers is empty"},
		{"same name", "# peers: a b a\n", ErrDuplicate, `d.tsv:1: duplicate peer name "a"`},
		{"empty collection", line(hashA, "x", "1", "0"), ErrEmpty, `d.tsv: empty collection: peer "b" holds no file`},
		{"too many keys", line(hashA, "x", "1125899906842624", "0,1"), ErrLimit, "choose larger chunks"},
		{"long line", "#" + strings.Repeat("x", bounded.MaxBytes), ErrMalformed, "d.tsv:1: more than 1048576 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) { refused(t, write(t, "d.tsv", c.text), c.is, c.says) })
	}
	t.Run("not zipped", func(t *testing.T) {
		refused(t, write(t, "d.tsv.gz", good), gzip.ErrHeader, "d.tsv.gz")
	})
	t.Run("unknown form", func(t *testing.T) { refused(t, write(t, "d.csv", good), nil, "d.csv: neither a folder nor") })
	t.Run("missing", func(t *testing.T) { refused(t, "testdata/none.tsv", os.ErrNotExist, "testdata/none.tsv") })
}

func refused(t *testing.T, path string, is error, says string) {
	t.Helper()
	d, err := Load(Config{Path: path, Rand: rng(1)})
	if err == nil || d != nil {
		t.Fatal("accepted")
	}
	if is != nil && !errors.Is(err, is) {
		t.Errorf("error %q is not %q", err, is)
	}
	if !strings.HasPrefix(err.Error(), "workload: ") || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q, want one line that says %q", err, says)
	}
}

func TestBadFolders(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		is    error
		says  string
	}{
		{"no files", nil, ErrEmpty, "holds no file of keys"},
		{"empty file", map[string]string{"a.txt": "k\n", "b.txt": "\n\n"}, ErrEmpty, "b.txt: empty collection"},
		{"same name", map[string]string{"a": "k\n", "a.txt": "l\n"}, ErrDuplicate, `a.txt: duplicate peer name "a"`},
		{"binary", map[string]string{"a.txt": "k\nx\x00y\n"}, ErrMalformed, "a.txt:2: malformed line: a zero byte"},
		{"long key", map[string]string{"a.txt": "k\n" + strings.Repeat("x", 1025)}, ErrMalformed, "a.txt:2: malformed line: longer than 1024"},
		{"subfolder", map[string]string{"a.txt": "k\n", "sub/b.txt": "l\n"}, nil, "sub"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range c.files {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			refused(t, dir, c.is, c.says)
		})
	}
}

func TestFolderAcceptsLongestKeyAndWindowsLines(t *testing.T) {
	dir := t.TempDir()
	text := strings.Repeat("x", 1024) + "\r\nshort\r\nshort\r\n"
	if err := os.WriteFile(filepath.Join(dir, "a.b.txt"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d := load(t, Config{Path: dir})
	if d.Keys() != 2 || d.Holdings() != 2 || string(d.Key(1)) != "short" || d.Peers()[0] != "a.b" {
		t.Errorf("peers %q, %d keys, %d holdings", d.Peers(), d.Keys(), d.Holdings())
	}
}

func TestDealtPeerWithoutAnything(t *testing.T) {
	_, err := Load(Config{Path: write(t, "d.tsv", "# peers: a\n"+hashA+"\tx\t1\t0\n"), Peers: 2, Rand: rng(1)})
	if err != nil {
		t.Errorf("what all peers hold, all peers hold after dealing: %v", err)
	}
	_, err = Load(Config{Path: write(t, "d.tsv", good), Peers: MaxPeers + 1, Rand: rng(1)})
	if !errors.Is(err, ErrLimit) {
		t.Errorf("too many peers: %v", err)
	}
	// One file that half of the peers hold leaves the other half with nothing.
	half := "# peers: a b\n" + hashA + "\tx\t1\t0\n" + hashB + "\tx\t1\t1\n"
	_, err = Load(Config{Path: write(t, "d.tsv", half), Peers: 64, Rand: rng(1)})
	if !errors.Is(err, ErrEmpty) {
		t.Errorf("a peer that was dealt nothing: %v", err)
	}
}

func FuzzReadTable(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("# peers: a b a\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := readTable("d.tsv", bytes.NewReader(text))
		if err != nil {
			return
		}
		for _, file := range c.files {
			if len(file.key) != 32 || len(file.holders) == 0 || file.holders[len(file.holders)-1] >= len(c.peers) {
				t.Fatalf("accepted %+v among %d peers", file, len(c.peers))
			}
		}
	})
}
