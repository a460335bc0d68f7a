package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/expirable"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/sumdb"
)

// gomod is the adapter to a module proxy. A module's zip comes from peers when its hash is known, and its go.mod too:
// from the checksum database, which the proxy passes on and whose signature is checked, else from the proxy's own
// .ziphash file. The environment says which database, as for the go command: GOSUMDB, GONOSUMDB and GOPRIVATE. What has
// no known hash comes from the proxy alone.
type gomod struct {
	m    *Mirror
	base *url.URL
	db   *sumDB // nil: none is used
	none string // patterns of modules that are not in it
}

// Times for which the proxy's word holds without asking again.
const (
	forEver  = 365 * 24 * time.Hour // what never changes
	shortly  = 10 * time.Second     // lists of versions
	zipHash  = 4 << 10              // bytes of a hash file
	hashTime = 10 * time.Second
)

func newGo(m *Mirror, base *url.URL) adapter {
	none := os.Getenv("GONOSUMDB")
	if none == "" {
		none = os.Getenv("GOPRIVATE")
	}
	g := &gomod{m, base, newSumDB(m, base, os.Getenv("GOSUMDB")), none}
	return g.serve
}

func (g *gomod) serve(w http.ResponseWriter, r *http.Request, escaped string) {
	u, err := below(g.base, escaped)
	if err != nil {
		g.m.fail(w, r, "go/"+escaped, err)
		return
	}
	origin := requestTo(u, r)
	if !g.m.everybody(r, "go/"+escaped, origin) {
		g.m.through(w, r, "go/"+escaped, origin)
		return
	}
	n := named{name: "go/" + escaped, fresh: shortly, origin: origin}
	mod, suffix, ok := versionOf(escaped)
	switch {
	case strings.HasPrefix(escaped, "sumdb/"):
		if strings.Contains(escaped, "/tile/") || strings.Contains(escaped, "/lookup/") {
			n.fresh = forEver
		}
	case ok && (suffix == "zip" || suffix == "mod"):
		if sum, known := g.sum(r.Context(), mod, suffix); known {
			g.m.serve(w, r, record{Header: map[string]string{"Content-Type": contentType(suffix)}}, Wanted{sum, n.name, origin})
			return
		}
		n.fresh = forEver
	case ok && suffix == "info":
		n.fresh = forEver
	}
	g.m.serveNamed(w, r, n)
}

func contentType(suffix string) string {
	if suffix == "zip" {
		return "application/zip"
	}
	return "text/plain; charset=utf-8"
}

// versionOf reads MODULE/@v/VERSION.SUFFIX; ok is false if the version is none that stays.
func versionOf(escaped string) (mod module.Version, suffix string, ok bool) {
	path, file, found := strings.Cut(escaped, "/@v/")
	dot := strings.LastIndex(file, ".")
	if !found || dot < 0 {
		return mod, "", false
	}
	var errs [2]error
	mod.Path, errs[0] = module.UnescapePath(path)
	mod.Version, errs[1] = module.UnescapeVersion(file[:dot])
	canonical := semver.Canonical(mod.Version) == strings.TrimSuffix(mod.Version, "+incompatible")
	return mod, file[dot+1:], errors.Join(errs[:]...) == nil && canonical && module.Check(mod.Path, mod.Version) == nil
}

// sum returns the hash of a module's zip or go.mod; known is false if nobody tells.
func (g *gomod) sum(ctx context.Context, mod module.Version, suffix string) (s Sum, known bool) {
	kind := map[string]Kind{"zip": GoZip, "mod": GoMod}[suffix]
	if g.db != nil && !module.MatchPrefixPatterns(g.none, mod.Path) {
		if h1, ok := g.db.lookup(mod, kind); ok {
			s, err := parseH1(kind, h1)
			return s, err == nil
		}
	}
	if kind != GoZip {
		return s, false
	}
	path, pathErr := module.EscapePath(mod.Path)
	version, versionErr := module.EscapeVersion(mod.Version)
	if errors.Join(pathErr, versionErr) != nil {
		return s, false
	}
	name := path + "/@v/" + version + ".ziphash"
	u, err := below(g.base, name)
	if err != nil {
		return s, false
	}
	ctx, cancel := context.WithTimeout(ctx, hashTime)
	defer cancel()
	b, err := g.m.small(ctx, named{name: "go/" + name, fresh: forEver, origin: plainRequest(u)})
	if err != nil {
		return s, false
	}
	s, err = parseH1(kind, strings.TrimSpace(string(b)))
	return s, err == nil
}

// plainRequest makes requests of the mirror's own.
func plainRequest(u *url.URL) func(context.Context, string) (*http.Request, error) {
	return func(ctx context.Context, method string) (*http.Request, error) {
		return http.NewRequestWithContext(ctx, method, u.String(), nil)
	}
}

// small returns the beginning of what a name is.
func (m *Mirror) small(ctx context.Context, n named) ([]byte, error) {
	rec, _, err := m.resolve(ctx, n)
	if err != nil {
		return nil, err
	}
	f, size, ok := m.body(rec)
	if !ok {
		return nil, errFull
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.NewSectionReader(f, 0, min(size, maxSmall)))
}

const maxSmall = 1 << 20

// defaultDB is the database of the go command, with its key.
const defaultDB = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"

// sumDB asks a checksum database through the module proxy.
type sumDB struct {
	m      *Mirror
	base   *url.URL
	name   string
	key    string
	client *sumdb.Client
	cached *expirable.LRU[string, []byte]

	mu      sync.Mutex
	latest  []byte
	missing time.Time // until when the proxy has none
}

// newSumDB returns the database that GOSUMDB names; nil for off.
func newSumDB(m *Mirror, base *url.URL, text string) *sumDB {
	switch {
	case text == "off":
		return nil
	case text == "" || text == strings.SplitN(defaultDB, "+", 2)[0]:
		text = defaultDB
	}
	key, _, _ := strings.Cut(text, " ")
	name, _, _ := strings.Cut(key, "+")
	d := &sumDB{m: m, base: base, name: name, key: key, cached: expirable.NewLRU[string, []byte](maxTiles, nil, 0)}
	d.client = sumdb.NewClient(d)
	return d
}

const (
	maxTiles = 1024
	noneTime = time.Minute // for which a proxy without a database is not asked for it
)

// lookup returns the h1 hash of a module's zip or go.mod; ok is false if the database does not tell.
func (d *sumDB) lookup(mod module.Version, kind Kind) (h1 string, ok bool) {
	d.mu.Lock()
	missing := time.Now().Before(d.missing)
	d.mu.Unlock()
	if missing {
		return "", false
	}
	if kind == GoMod {
		mod.Version += "/go.mod"
	}
	lines, err := d.client.Lookup(mod.Path, mod.Version)
	if err != nil {
		d.m.log.Debug("mirror: checksum database", "module", mod, "err", err)
		return "", false
	}
	for _, line := range lines {
		if f := strings.Fields(line); len(f) == 3 && f[0] == mod.Path && f[1] == mod.Version {
			return f[2], true
		}
	}
	return "", false
}

// ReadRemote is for sumdb.Client.
func (d *sumDB) ReadRemote(path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(d.m.ctx, hashTime)
	defer cancel()
	u := *d.base
	u.Path += "/sumdb/" + d.name + path
	u.RawPath = ""
	req, err := plainRequest(&u)(ctx, http.MethodGet)
	if err != nil {
		return nil, err
	}
	resp, err := d.m.do(req)
	if err != nil {
		d.absent(path)
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxSmall+1))
	if err == nil && len(b) > maxSmall {
		err = fmt.Errorf("mirror: checksum database: more than %d bytes", maxSmall)
	}
	return b, err
}

// absent notes that the proxy passes on no database, unless it lacks just one module.
func (d *sumDB) absent(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.latest) == 0 || !strings.HasPrefix(path, "/lookup/") {
		d.missing = time.Now().Add(noneTime)
	}
}

// ReadConfig is for sumdb.Client.
func (d *sumDB) ReadConfig(file string) ([]byte, error) {
	if file == "key" {
		return []byte(d.key), nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.latest, nil
}

// WriteConfig is for sumdb.Client.
func (d *sumDB) WriteConfig(_ string, old, latest []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if string(old) != string(d.latest) {
		return sumdb.ErrWriteConflict
	}
	d.latest = latest
	return nil
}

// ReadCache is for sumdb.Client.
func (d *sumDB) ReadCache(file string) ([]byte, error) {
	if b, ok := d.cached.Get(file); ok {
		return b, nil
	}
	return nil, os.ErrNotExist
}

// WriteCache is for sumdb.Client.
func (d *sumDB) WriteCache(file string, b []byte) { d.cached.Add(file, b) }

// Log is for sumdb.Client.
func (d *sumDB) Log(msg string) { d.m.log.Debug("mirror: checksum database: " + msg) }

// SecurityError is for sumdb.Client.
func (d *sumDB) SecurityError(msg string) { d.m.log.Error("mirror: checksum database: " + msg) }
