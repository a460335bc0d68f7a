package mirror

import (
	"context"
	"errors"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

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
	hashTime = 10 * time.Second
)

func newGo(m *Mirror, base *url.URL) adapter {
	none := os.Getenv("GONOSUMDB")
	if none == "" {
		none = os.Getenv("GOPRIVATE")
	}
	return adapter{answer: (&gomod{m, base, newSumDB(m, base, os.Getenv("GOSUMDB")), none}).answer}
}

func (g *gomod) answer(q *request) {
	fresh := shortly
	mod, suffix, ok := versionOf(q.path)
	switch {
	case ok && (suffix == "zip" || suffix == "mod"):
		if sum, known := g.sum(q.r.Context(), mod, suffix); known {
			q.serve(typed(map[string]string{"zip": "application/zip", "mod": "text/plain; charset=utf-8"}[suffix]), sum)
			return
		}
		fresh = forEver
	case ok && suffix == "info", strings.HasPrefix(q.path, "sumdb/") && lasts(q.path):
		fresh = forEver
	}
	q.serveNamed(named{fresh: fresh})
}

// lasts reports whether what a checksum database gives at a path stays as it is.
func lasts(path string) bool {
	return strings.Contains(path, "/tile/") || strings.Contains(path, "/lookup/")
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
	b, err := g.m.goFile(ctx, g.base, path+"/@v/"+version+".ziphash", forEver)
	if err != nil {
		return s, false
	}
	s, err = parseH1(kind, strings.TrimSpace(string(b)))
	return s, err == nil
}

// goFile returns a small file of a module proxy.
func (m *Mirror) goFile(ctx context.Context, base *url.URL, path string, fresh time.Duration) ([]byte, error) {
	u, err := below(base, path)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, hashTime)
	defer cancel()
	return m.small(ctx, named{name: "go/" + path, fresh: fresh, origin: plainRequest(u)})
}

// defaultDB is the database of the go command, with its key.
const defaultDB = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"

// sumDB asks a checksum database through the module proxy.
type sumDB struct {
	m      *Mirror
	base   *url.URL
	name   string
	key    string
	client *sumdb.Client

	mu      sync.Mutex
	latest  []byte
	missing time.Time // until when the proxy is taken to pass on no database
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
	d := &sumDB{m: m, base: base, name: name, key: key}
	d.client = sumdb.NewClient(d)
	return d
}

// noneTime is for how long a proxy without a database is not asked for it.
const noneTime = time.Minute

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
		d.Log(err.Error())
		return "", false
	}
	for _, line := range lines {
		if f := strings.Fields(line); len(f) == 3 && f[0] == mod.Path && f[1] == mod.Version {
			return f[2], true
		}
	}
	return "", false
}

// ReadRemote is for sumdb.Client. A proxy that fails passes on no database, unless it lacks just one module.
func (d *sumDB) ReadRemote(path string) ([]byte, error) {
	fresh := time.Duration(0)
	if lasts(path) {
		fresh = forEver
	}
	b, err := d.m.goFile(d.m.ctx, d.base, "sumdb/"+d.name+path, fresh)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil && (len(d.latest) == 0 || !strings.HasPrefix(path, "/lookup/")) {
		d.missing = time.Now().Add(noneTime)
	}
	return b, err
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

// ReadCache is for sumdb.Client: ReadRemote keeps what it reads.
func (d *sumDB) ReadCache(string) ([]byte, error) { return nil, os.ErrNotExist }

// WriteCache is for sumdb.Client.
func (d *sumDB) WriteCache(string, []byte) {}

// Log is for sumdb.Client.
func (d *sumDB) Log(msg string) { d.m.log.Debug("mirror: checksum database: " + msg) }

// SecurityError is for sumdb.Client.
func (d *sumDB) SecurityError(msg string) { d.m.log.Error("mirror: checksum database: " + msg) }
