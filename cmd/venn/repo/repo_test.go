package repo

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
)

func newRepo(t *testing.T) Repo {
	t.Helper()
	return must(Init(filepath.Join(t.TempDir(), "r")))
}

func TestInit(t *testing.T) {
	r := newRepo(t)
	for _, name := range []string{identityFile, configFile} {
		info, err := os.Stat(r.path(name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	key, err := r.Identity()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Init(r.Dir); !errors.Is(err, ErrExists) {
		t.Errorf("a second time: %v", err)
	}
	again, err := r.Identity()
	if err != nil || !again.Equals(key) {
		t.Errorf("the identity has changed (%v)", err)
	}
	again, err = reinit(t, r)
	if err != nil || again.Equals(key) {
		t.Errorf("without the identity file: %v, or the same identity", err)
	}
	if _, err := Open(t.TempDir()); !errors.Is(err, ErrNone) {
		t.Errorf("an empty folder: %v", err)
	}
}

// TestBrokenIdentity: with any bit of its file changed, there is no identity, rather than another one or one that cannot
// sign.
func TestBrokenIdentity(t *testing.T) {
	r := newRepo(t)
	name := r.path(identityFile)
	whole := must(os.ReadFile(name))
	for i := range 8 * len(whole) {
		broken := bytes.Clone(whole)
		broken[i/8] ^= 1 << (i % 8)
		noErr(t, os.WriteFile(name, broken, 0o600))
		if _, err := r.Identity(); !errors.Is(err, errNoKey) {
			t.Errorf("bit %d of byte %d: %v", i%8, i/8, err)
		}
	}
}

// reinit makes a new identity in place of one that is lost. The configuration must stay.
func reinit(t *testing.T, r Repo) (crypto.PrivKey, error) {
	t.Helper()
	c := must(r.FileConfig())
	c.Limits.Up = 12345
	noErr(t, errors.Join(r.SaveConfig(c), os.Remove(r.path(identityFile))))
	must(Init(r.Dir))
	if got, err := r.FileConfig(); err != nil || got.String() != c.String() {
		t.Errorf("the configuration is another (%v)\n%s", err, got)
	}
	return r.Identity()
}

// TestEveryKey sets every key to what it is, by name and by environment, and reads back what was written.
func TestEveryKey(t *testing.T) {
	r := newRepo(t)
	c := must(r.FileConfig())
	seen := make(map[string]bool)
	for _, e := range c.entries() {
		if doc := e.tag.Get("doc"); doc == "" || !strings.HasSuffix(doc, ".") || seen[e.name()] {
			t.Errorf("%s is described as %q", e.name(), doc)
		}
		if form, ok := e.tag.Lookup("form"); ok && forms[form] == nil {
			t.Errorf("%s must be a %s, for which there is no check", e.name(), form)
		}
		seen[e.name()] = true
		text := strings.Trim(strings.ReplaceAll(strings.ReplaceAll(literal(e.value), `"`, ""), ", ", ","), "[]")
		before := c.String()
		if err := c.Set(e.name(), text); err != nil || c.String() != before {
			t.Errorf("%s = %q: %v, or the configuration has changed", e.name(), text, err)
		}
		lookup := func(name string) (string, bool) { return text, name == e.variable() }
		if err := c.override(lookup); err != nil || c.String() != before {
			t.Errorf("%s=%q: %v, or the configuration has changed", e.variable(), text, err)
		}
	}
	c.Limits.Up, c.Network.Name, c.Discovery.Bootstrap = 12345, `a "name" with ä`, []string{"/p2p/12D3KooWQRVvCjvCuzHQAdsN9rdqrs1YwaHtM4j9mS2VPSjf5FD2"}
	noErr(t, r.SaveConfig(c))
	if got, err := r.FileConfig(); err != nil || got.String() != c.String() {
		t.Errorf("read back %v\n%s", err, got)
	}
}

// TestBadConfigs names what is wrong with a configuration. Who mistyped a key is told which ones there are.
func TestBadConfigs(t *testing.T) {
	r := newRepo(t)
	for text, want := range map[string]string{
		"[limits]\nconnections = 12":           "limits.connections is 12, must be 13",
		"[limits]\nmemory = 64":                "limits.memory is 64 bytes, must be 65536",
		"[limits]\norigins = 0":                "limits.origins is 0, must be 1",
		"[limits]\nshare = 2.0":                "limits.share",
		"[limits]\nup = -1":                    "up",
		"[limits]\nup = 100":                   "limits.up is 100 bit/s, must be 0 (not declared) or 8000 or more",
		"[limits]\nup = \"fast\"":              "up",
		"[network]\nname = \"\"":               "network.name",
		"[network]\nprevious_until = \"soon\"": "network.previous_until",
		"[network]\nseed = 3\nprevious_seed = 3\nprevious_until = \"2030-01-31T12:00:00Z\"": "network.previous_seed",
		"[nope]\nx = 1":                                     "unknown key nope; the sections are network, addresses",
		"[log]\nlevels = \"info\"":                          "unknown key log.levels; log has level",
		"[addresses]\nlisten = [\"localhost\"]":             "addresses.listen",
		"[discovery]\nbootstrap = [\"/ip4/1.2.3.4/tcp/1\"]": "discovery.bootstrap",
		"[log]\nlevel = \"loud\"":                           "log.level",
		"[http]\nlisten = \"8080\"":                         "http.listen",
		"[http]\nlisten = \"127.0.0.1:99999\"":              "http.listen: \"127.0.0.1:99999\" is no host:port",
		"[mirror]\nlisten = \":-1\"":                        "mirror.listen: \":-1\" is no host:port",
		"[limits]\nconnections = \"many\"":                  "limits.connections: \"many\" is no whole number",
		"[limits]\nconnections = 1.5":                       "limits.connections: 1.5 is no whole number",
		"[limits.connections]\nx = 1":                       "limits.connections",
		"[network]\nseed = -1":                              "network.seed: -1 is no whole number from 0 to 4294967295",
		"[discovery]\nbootstrap = [1]":                      "discovery.bootstrap: [1] is no list",
		"network = 5":                                       "network is no section",
		"[[mirror.upstream]]":                               "mirror.upstream is no section",
		"[mirror.upstream]\ngo = \"proxy\"":                 "mirror.upstream.go: no URL",
		"[mirror.upstream]\noci = [\"a\", \"ftp://b\"]":     "mirror.upstream.oci: no URL with http or https and a host, and without a password: \"ftp://b\"",
		"[limits": "line 1",
	} {
		noErr(t, os.WriteFile(r.ConfigPath(), []byte(text), 0o600))
		if _, err := r.Config(); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "type ") {
			t.Errorf("%q: %v", text, err)
		}
	}
	noErr(t, os.Remove(r.ConfigPath()))
	if _, err := r.Config(); !errors.Is(err, ErrConfig) {
		t.Errorf("no file: %v", err)
	}
}

func TestLock(t *testing.T) {
	r := newRepo(t)
	unlock, err := r.Lock()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Lock(); !errors.Is(err, ErrLocked) {
		t.Errorf("a second lock: %v", err)
	}
	unlock()
	if unlock, err = r.Lock(); err != nil {
		t.Fatal(err)
	}
	unlock()
}

// TestDefaultPort: the peer in the default folder listens on the default port, others on free ones; so does one whose
// file names none.
func TestDefaultPort(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("VENN_PATH", "")
	on := func(r Repo) bool {
		c := must(r.FileConfig())
		return slices.Contains(c.Addresses.Listen, "/ip4/0.0.0.0/tcp/4101")
	}
	dir := must(Default())
	one := must(Init(dir))
	other := must(Init(filepath.Join(t.TempDir(), ".venn")))
	if !on(one) || on(other) {
		t.Errorf("on the default port: %v in %s, %v in %s", on(one), one.Dir, on(other), other.Dir)
	}
	noErr(t, os.WriteFile(other.ConfigPath(), nil, 0o600))
	if !on(other) {
		t.Error("an empty file is not one on the default port")
	}
}

// TestFreePort: ports of peers are none that systems give to outgoing connections, are free by TCP and UDP, and one
// peer's two differ.
func TestFreePort(t *testing.T) {
	drawn := -1
	next := func(below int) int { drawn++; return drawn / 2 % below } // each number twice
	port, err := freePort(next, 0)
	if err != nil || port < FirstPort || port >= EndPort {
		t.Fatalf("%d, %v", port, err)
	}
	if other, err := freePort(next, port); err != nil || other <= port {
		t.Errorf("%d after %d, %v", other, port, err)
	}
	l := must(net.ListenPacket("udp", "127.0.0.1:0"))
	defer func() { _ = l.Close() }()
	if tryPort(l.LocalAddr().String()) == nil {
		t.Error("a port that is taken by UDP is free")
	}
}

// TestChangesSideBySide: of several changes of the configuration at the same time, none is lost.
func TestChangesSideBySide(t *testing.T) {
	r := newRepo(t)
	const changes = 16
	var group sync.WaitGroup
	for n := range changes {
		group.Go(func() {
			if _, err := r.Change(t.Context(), func(c *Config) error {
				c.HTTP.Names = append(c.HTTP.Names, fmt.Sprint(n, ".example"))
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if c, err := r.FileConfig(); err != nil || len(c.HTTP.Names) != changes {
		t.Errorf("%d changes are left of %d, %v", len(c.HTTP.Names), changes, err)
	}
}

// TestWriteFileBesideLeftOver: files that a killed process left behind keep nobody from writing, whatever the id of the
// process.
func TestWriteFileBesideLeftOver(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	for _, old := range []string{"", fmt.Sprint(os.Getpid())} {
		noErr(t, os.WriteFile(filepath.Join(filepath.Dir(name), ".x."+old), nil, 0o600))
	}
	noErr(t, writeFile(name, []byte("text")))
	if err := WriteFile(name, 0o600, func(io.Writer) error { return io.ErrShortWrite }); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("a write that fails returns %v", err)
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != "text" {
		t.Errorf("%q, %v", b, err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(name), ".x.*")); err != nil || len(left) != 2 {
		t.Errorf("%q, %v", left, err)
	}
}

// TestInitSideBySide: of several that make one repository at once, one makes it, and it is whole.
func TestInitSideBySide(t *testing.T) {
	for range 20 {
		dir, keys := filepath.Join(t.TempDir(), "parent", "r"), make([]crypto.PrivKey, 8)
		made := make(chan int, len(keys))
		var wg sync.WaitGroup
		for i := range keys {
			keys[i], _, _ = crypto.GenerateEd25519Key(rand.Reader)
			wg.Go(func() {
				_, err := InitAs(dir, keys[i], func(c *Config) { c.Limits.Up = int64(10_000 + i) })
				if err == nil {
					made <- i
				} else if !errors.Is(err, ErrExists) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if len(made) != 1 {
			t.Fatalf("%d of %d say that they made the repository", len(made), len(keys))
		}
		i, r := <-made, Repo{dir}
		key, err := r.Identity()
		if err != nil || !key.Equals(keys[i]) {
			t.Fatalf("the identity is another's, %v", err)
		}
		if cfg, err := r.FileConfig(); err != nil || cfg.Limits.Up != int64(10_000+i) {
			t.Fatalf("the configuration is another's, %v", err)
		}
	}
}

// TestTemporaryFile: an error of writing names the file that the user knows.
func TestTemporaryFile(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), ".x.TEMPORARY"))
	noErr(t, err)
	noErr(t, f.Close())
	if _, err := (temporaryFile{f, "x"}).Write([]byte("a")); err == nil || err.Error() != "write x: file already closed" {
		t.Error(err)
	}
}

// TestMakeFile: what is there, or is made meanwhile, stays.
func TestMakeFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	err := MakeFile(name, 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, "ours")
		return errors.Join(err, os.WriteFile(name, []byte("theirs"), 0o600))
	})
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("beside another: %v", err)
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != "theirs" {
		t.Errorf("%q, %v", b, err)
	}
	if left, err := os.ReadDir(filepath.Dir(name)); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestOption: the advice of an error can be pasted into a shell, whatever the folder's name.
func TestOption(t *testing.T) {
	for _, dir := range []string{"/srv/venn", "with blank", "it's", "$HOME", "a;b", "~"} {
		out, err := exec.Command("sh", "-c", "printf %s "+strings.TrimPrefix(Repo{Dir: dir}.Option(), " --repo ")).Output()
		if err != nil || string(out) != dir {
			t.Errorf("%q is %q after %s, %v", dir, out, Repo{Dir: dir}.Option(), err)
		}
	}
}

// must returns v. It panics on an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// noErr ends the test if there is an error.
func noErr(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}
