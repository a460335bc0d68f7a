package mirror

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/nix-community/go-nix/pkg/nixbase32"
	"github.com/ulikunitz/xz"
	"golang.org/x/mod/sumdb/dirhash"
)

// folder is an origin that serves files, and counts what it is asked for.
type folder struct {
	*httptest.Server
	dir  string
	mu   sync.Mutex
	gets map[string]int
}

func newFolder(t *testing.T, files map[string][]byte) *folder {
	t.Helper()
	f := &folder{dir: t.TempDir(), gets: make(map[string]int)}
	for name, b := range files {
		path := filepath.Join(f.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	static := http.FileServer(http.Dir(f.dir))
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.gets[r.URL.Path]++
		f.mu.Unlock()
		static.ServeHTTP(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *folder) asked(path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.gets[path]
}

// moduleZip returns a module's archive and its hash as in go.sum.
func moduleZip(t *testing.T, content string) (b []byte, h1 string) {
	t.Helper()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	w, err := z.Create("example.com/m@v1.0.0/go.mod")
	if err == nil {
		_, err = w.Write([]byte(content))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.zip")
	if err := os.WriteFile(path, buf.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if h1, err = dirhash.HashZip(path, dirhash.Hash1); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes(), h1
}

func TestGo(t *testing.T) {
	t.Setenv("GOSUMDB", "sums.example+1+key https://sums.example")
	b := newBoard()
	content, h1 := moduleZip(t, "module example.com/m\n")
	other, _ := moduleZip(t, "module example.com/other\n")
	inDB, dbH1 := moduleZip(t, "module example.com/db\n")
	const at = "/example.com/m/@v/"
	o := newFolder(t, map[string][]byte{
		"sumdb/sums.example/lookup/example.com/!d!b@v1.0.0": []byte("7\nexample.com/DB v1.0.0 " + dbH1 + "\nexample.com/DB v1.0.0/go.mod h1:AAAA\n\ngo.sum database tree\n8\n"),
		"example.com/!d!b/@v/v1.0.0.zip":                    inDB, "example.com/!d!b/@v/v1.0.0.mod": []byte("module example.com/db\n"),
		at + "v1.0.0.zip": content, at + "v1.0.0.ziphash": []byte(h1), at + "v1.0.0.mod": []byte("module example.com/m\n"), at + "list": []byte("v1.0.0\n"),
		at + "v1.0.0.info": []byte(`{"Version":"v1.0.0"}`), at + "v1.1.0.zip": other, at + "v1.2.0.zip": other, at + "v1.2.0.ziphash": []byte("h1:" + strings.Repeat("A", 43) + "="),
	})
	up := Upstream{Go: o.URL}
	first, second := b.start(t, up), b.start(t, up)
	for _, p := range []peerOf{first, second, second} {
		get(t, p.url+"/go/example.com/%21d%21b/@v/v1.0.0.zip").is(t, inDB) // as the go command asks
		get(t, p.url+"/go/example.com/!d!b/@v/v1.0.0.mod").is(t, []byte("module example.com/db\n"))
		get(t, p.url+"/go"+at+"v1.0.0.zip").is(t, content)
		get(t, p.url+"/go"+at+"v1.0.0.mod").is(t, []byte("module example.com/m\n"))
		get(t, p.url+"/go"+at+"v1.0.0.info").is(t, []byte(`{"Version":"v1.0.0"}`))
		get(t, p.url+"/go"+at+"list").is(t, []byte("v1.0.0\n"))
		get(t, p.url+"/go"+at+"v1.1.0.zip").is(t, other)
	}
	if n := o.asked(at + "v1.0.0.zip"); n != 1 {
		t.Errorf("the origin was asked %d times for a zip of known hash", n)
	}
	for file, times := range map[string]int{"/example.com/!d!b/@v/v1.0.0.zip": 1, "/example.com/!d!b/@v/v1.0.0.mod": 2} {
		if n := o.asked(file); n != times {
			t.Errorf("the origin was asked %d times by two mirrors for %s, want %d", n, file, times)
		}
	}
	if n := o.asked(at + "v1.1.0.zip"); n != 2 {
		t.Errorf("the origin was asked %d times by two mirrors for a zip of unknown hash", n)
	}
	if got := get(t, first.url+"/go"+at+"v1.2.0.zip"); got.err == nil && got.status == http.StatusOK {
		t.Error("a zip of another hash was served as whole")
	}
	if got := get(t, first.url+"/go"+at+"v9.0.0.zip"); got.status != http.StatusNotFound {
		t.Errorf("what there is not: status %d", got.status)
	}
	o.Close()
	get(t, second.url+"/go"+at+"list").is(t, []byte("v1.0.0\n"))
}

func TestNix(t *testing.T) {
	b := newBoard()
	archive := some(80_000, 30)
	sum := sha256.Sum256(archive)
	nar := "/nar/" + nixbase32.EncodeToString(sum[:]) + ".nar.xz"
	info := fmt.Sprintf("StorePath: /nix/store/%s-x\nURL: %s\nCompression: xz\nFileHash: sha256:%s\nFileSize: 80000\nNarHash: sha256:%s\nNarSize: 1\nReferences: \nSig: a-1:%s\n",
		strings.Repeat("a", 32), nar[1:], nixbase32.EncodeToString(sum[:]), nixbase32.EncodeToString(sum[:]), "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==")
	path := "/" + strings.Repeat("a", 32) + ".narinfo"
	o := newFolder(t, map[string][]byte{"nix-cache-info": []byte("StoreDir: /nix/store\n"), path: []byte(info), nar: archive})
	up := Upstream{Nix: o.URL}
	for range 3 {
		p := b.start(t, up)
		get(t, p.url+"/nix/nix-cache-info").is(t, []byte("StoreDir: /nix/store\n"))
		for range 3 {
			get(t, p.url+"/nix"+path).is(t, []byte(info))
		}
		get(t, p.url+"/nix"+nar).is(t, archive)
	}
	if n, infos := o.asked(nar), o.asked(path); n != 1 || infos != 3 {
		t.Errorf("the origin was asked %d times for an archive, and %d times by three mirrors for its narinfo", n, infos)
	}
}

func TestApt(t *testing.T) {
	b := newBoard()
	deb := some(60_000, 31)
	sum := sha256.Sum256(deb)
	index := fmt.Sprintf("Package: x\nFilename: pool/main/x/x_1_all.deb\nSize: 60000\nSHA256: %x\n\nPackage: y\nFilename: pool/y.deb\n", sum)
	var packed, squeezed bytes.Buffer
	g := gzip.NewWriter(&packed)
	_, _ = g.Write([]byte(index))
	_ = g.Close()
	x, err := xz.NewWriter(&squeezed)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = x.Write([]byte(index))
	_ = x.Close()
	const at, pool = "dists/stable/main/binary-all/", "pool/main/x/x_1_all.deb"
	files := map[string][]byte{pool: deb}
	release := "Suite: stable\nSHA256:\n"
	for name, content := range map[string][]byte{"Packages": []byte(index), "Packages.gz": packed.Bytes(), "Packages.xz": squeezed.Bytes()} {
		h := sha256.Sum256(content)
		release += fmt.Sprintf(" %x %d main/binary-all/%s\n", h, len(content), name)
		files[at+name], files[at+"by-hash/SHA256/"+hex.EncodeToString(h[:])] = content, content
	}
	files["dists/stable/InRelease"] = []byte(release)
	o := newFolder(t, files)
	up := Upstream{Apt: o.URL}
	byHash := sha256.Sum256(squeezed.Bytes())
	var last peerOf
	for _, index := range []string{at + "Packages", at + "Packages.gz", at + "Packages.xz", at + "by-hash/SHA256/" + hex.EncodeToString(byHash[:])} {
		p := b.start(t, up)
		get(t, p.url+"/apt/dists/stable/InRelease").is(t, []byte(release))
		get(t, p.url+"/apt/"+index).is(t, files[index])
		get(t, p.url+"/apt/"+pool).is(t, deb)
		last = p
	}
	if n := o.asked("/" + pool); n != 1 {
		t.Errorf("the origin was asked %d times for a package", n)
	}
	if err := last.Close(); err != nil {
		t.Fatal(err)
	}
	again := b.start(t, up, func(c *Config) { c.Dir, c.Host, c.Router = last.cfg.Dir, last.cfg.Host, last.view })
	again.cache.drop(Sum(fmt.Sprintf("sha256-%x", sum)))
	get(t, again.url+"/apt/dists/stable/InRelease").is(t, []byte(release)) // it names the indexes that are here
	get(t, again.url+"/apt/"+pool).is(t, deb)
	if n := o.asked("/" + pool); n != 1 {
		t.Errorf("after a restart, the origin was asked %d times for a package", n)
	}
}

func TestEmptyIndex(t *testing.T) {
	if err := parseIndex(strings.NewReader(""), nil); err != nil {
		t.Error(err)
	}
}

// TestNewPackagesAreKnown reads one index after another, which name more packages in all than are remembered.
func TestNewPackagesAreKnown(t *testing.T) {
	files, _ := lru.New[string, Sum](2)
	named := func(number int) string { return fmt.Sprintf("pool/x_%d.deb", number) }
	for i := range 3 {
		index := fmt.Sprintf("Filename: %s\nSHA256: %064d\n\nFilename: %s\nSHA256: %064d\n", named(i), i, named(i+1), i+1)
		if err := parseIndex(strings.NewReader(index), files); err != nil {
			t.Fatal(err)
		}
		for _, number := range []int{i, i + 1} {
			if sum, _ := files.Get(named(number)); sum != Sum(fmt.Sprintf("sha256-%064d", number)) {
				t.Errorf("index %d: package %d has the sum %q", i, number, sum)
			}
		}
	}
}

// TestAptTrustsIndexesOfTheRelease has a client bring in an index that no Release names.
func TestAptTrustsIndexesOfTheRelease(t *testing.T) {
	b := newBoard()
	evil := some(1000, 32)
	index := fmt.Appendf(nil, "Package: x\nFilename: pool/x.deb\nSHA256: %x\n", sha256.Sum256(evil))
	h := sha256.Sum256(index)
	good := some(1000, 33)
	o := newFolder(t, map[string][]byte{"pool/x.deb": good, "dists/by-hash/SHA256/" + hex.EncodeToString(h[:]): index})
	p := b.start(t, Upstream{Apt: o.URL})
	get(t, p.url+"/apt/dists/by-hash/SHA256/"+hex.EncodeToString(h[:])).is(t, index)
	get(t, p.url+"/apt/pool/x.deb").is(t, good)
}

// TestPrivatePartOfArchive has an archive give a part to those with a password alone.
func TestPrivatePartOfArchive(t *testing.T) {
	b := newBoard()
	content := some(1000, 41)
	o := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/private/") && r.Header.Get("Authorization") == "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write(content)
	}))
	p := b.start(t, Upstream{Apt: o.URL})
	for _, path := range []string{"/apt/dists/InRelease", "/apt/private/dists/InRelease"} {
		get(t, p.url+path, "Authorization", "Basic me").is(t, content)
	}
	o.Close()
	get(t, p.url+"/apt/dists/InRelease").is(t, content)
	if got := get(t, p.url+"/apt/private/dists/InRelease"); got.status == http.StatusOK {
		t.Error("a private index was kept, and served without credentials")
	}
}

// TestBrokenAnswerIsCutOff has content without a length for clients, since it is packed, come again and break off.
func TestBrokenAnswerIsCutOff(t *testing.T) {
	t.Parallel()
	b := newBoard()
	content := some(400_000, 42)
	var breaks atomic.Bool
	o := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		w.Header().Set("Content-Length", "400000")
		if breaks.Load() {
			_, _ = w.Write(content[:200_000])
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write(content)
	}))
	defer o.Close()
	p := b.start(t, Upstream{Go: o.URL})
	p.times.busy = 100 * time.Millisecond
	const at = "/go/example.com/m/@v/v1.0.0.mod"
	get(t, p.url+at).is(t, content)
	breaks.Store(true)
	if err := os.Remove(p.cache.path(sumOf(kindPlain, sha256.Sum256(content)))); err != nil {
		t.Fatal(err)
	}
	get(t, p.url+at).notWrong(t, content)
}

// TestHeadersOfContent has an origin pack what it sends, and asks for the rest of content that has changed.
func TestHeadersOfContent(t *testing.T) {
	b := newBoard()
	plain := some(1000, 37)
	var packed bytes.Buffer
	g := gzip.NewWriter(&packed)
	_, _ = g.Write(plain)
	_ = g.Close()
	o := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", `"now"`)
		if strings.HasSuffix(r.URL.Path, "/packed") {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes())
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(plain))
	}))
	defer o.Close()
	p := b.start(t, Upstream{Apt: o.URL, Nix: o.URL})
	for _, path := range []string{"/apt/dists/", "/nix/log/"} { // a name, and content that is passed through
		get(t, p.url+path+"packed").is(t, plain)
		get(t, p.url+path+"file", "Range", "bytes=500-", "If-Range", `"before"`).is(t, plain)
		if got := get(t, p.url+path+"file", "If-None-Match", `"now"`); got.status != http.StatusNotModified {
			t.Errorf("%s: status %d for what the client has", path, got.status)
		}
	}
}

func TestHuggingFace(t *testing.T) {
	b := newBoard()
	model, small := some(500_000, 34), []byte(`{"hidden":1}`)
	sum := fmt.Sprintf("%x", sha256.Sum256(model))
	var gets, gated int
	var silent atomic.Bool
	var mu sync.Mutex
	cdn := func(w http.ResponseWriter) {
		mu.Lock()
		defer mu.Unlock()
		gets++
		_, _ = w.Write(model)
	}
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Repo-Commit", strings.Repeat("c", 40))
		switch {
		case silent.Load():
			<-r.Context().Done()
		case r.URL.Path == "/cdn" && r.Method == http.MethodGet:
			cdn(w)
		case r.URL.Path == "/cdn":
			w.Header().Set("Content-Length", "500000")
		case strings.HasPrefix(r.URL.Path, "/gated/") && r.Header.Get("Authorization") != "Bearer me":
			mu.Lock()
			defer mu.Unlock()
			gated++
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/api/models/old/model/paths-info/main": // the model has another name now
			http.Redirect(w, r, "/api/models/some/model/paths-info/main", http.StatusTemporaryRedirect)
		case r.Method == http.MethodPost:
			_, _ = io.Copy(w, io.MultiReader(strings.NewReader(r.URL.Path+" "+r.Header.Get("Content-Type")+" "), r.Body))
		case strings.HasSuffix(r.URL.Path, "/model.bin"):
			w.Header().Set("X-Linked-Etag", `"`+sum+`"`)
			w.Header().Set("X-Linked-Size", "500000")
			http.Redirect(w, r, "/cdn", http.StatusFound)
		default:
			w.Header().Set("Etag", `"abc"`)
			_, _ = w.Write(small)
		}
	}))
	defer hub.Close()
	up := Upstream{HF: hub.URL}
	first, second := b.start(t, up), b.start(t, up)
	const file, config, secret = "/hf/some/model/resolve/main/model.bin", "/hf/some/model/resolve/main/config.json", "/hf/gated/model/resolve/main/model.bin"
	for _, p := range []peerOf{first, second} {
		head := do(t, http.MethodHead, p.url+file)
		if head.status != http.StatusOK || head.header.Get("X-Repo-Commit") == "" || head.header.Get("Etag") != `"`+sum+`"` || head.header.Get("X-Linked-Size") != "500000" {
			t.Errorf("HEAD: %d %v", head.status, head.header)
		}
		get(t, p.url+file).is(t, model)
		get(t, p.url+config).is(t, small)
	}
	if gets != 1 {
		t.Errorf("the hub gave the file %d times", gets)
	}
	for _, path := range []string{"/api/models/some/model/paths-info/main", "/api/models/old/model/paths-info/main"} {
		got := post(t, first.url+"/hf"+path, `{"paths":["model.bin"]}`)
		got.is(t, []byte(`/api/models/some/model/paths-info/main application/json {"paths":["model.bin"]}`))
	}
	if got := post(t, first.url+"/hf/api/models/some/model/paths-info/main", strings.Repeat(" ", maxSmall+1)); got.status != http.StatusBadRequest {
		t.Errorf("too long a question: %d", got.status)
	}
	for _, path := range []string{"/hf/api/models/some/model/commit/main", "/hf/api/models/some/model/commit%2fpaths-info%2fmain", "/v2/some/image/paths-info/main", "/hf/some/model/resolve/main/model.bin"} {
		if got := post(t, first.url+path, "{}"); got.status != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	get(t, first.url+secret, "Authorization", "Bearer me").is(t, model)
	if got := get(t, first.url+secret); got.status != http.StatusUnauthorized || gated < 2 {
		t.Errorf("a gated file without a token: %d; the hub refused %d times", got.status, gated)
	}
	silent.Store(true)
	get(t, second.url+file).is(t, model)
	hub.Close()
	get(t, second.url+file).is(t, model)
	get(t, second.url+config).is(t, small)
	if got := get(t, second.url+secret); got.status == http.StatusOK {
		t.Error("a gated file was served without the hub's consent")
	}
}
