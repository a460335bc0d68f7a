package mirror

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// gomod is the adapter to a module proxy. A module's zip and go.mod come from peers when their hash is known: by the
// checksum database, as the proxy passes it on, else by the proxy's .ziphash file. That is the origin's word; the go
// command checks it by go.sum and the database's signature. The environment names the database, as for the go command:
// GOSUMDB, GONOSUMDB and GOPRIVATE. Content without a known hash comes from the proxy alone.
type gomod struct {
	m    *Mirror
	base *url.URL
	db   string // name of the database; off: none is used
	none string // patterns of modules that are not in it
}

// Times for which the proxy's word holds without asking again.
const (
	forEver  = 365 * 24 * time.Hour // for content that never changes
	shortly  = 10 * time.Second     // lists of versions
	hashTime = 10 * time.Second
)

func newGo(m *Mirror, base *url.URL) adapter {
	db, _, _ := strings.Cut(cmp.Or(os.Getenv("GOSUMDB"), "sum.golang.org"), "+") // NAME+KEY, or NAME
	db, _, _ = strings.Cut(db, " ")
	g := &gomod{m, base, db, cmp.Or(os.Getenv("GONOSUMDB"), os.Getenv("GOPRIVATE"))}
	return adapter{sum: g.sum, fresh: func(path string) time.Duration {
		if _, suffix, ok := versionOf(path); ok && suffix != "" || strings.Contains(path, "/tile/") || strings.Contains(path, "/lookup/") {
			return forEver
		}
		return shortly
	}}
}

// versionOf reads MODULE/@v/VERSION.SUFFIX with the suffix zip, mod or info; ok is false if the version is none that stays.
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
	suffix = file[dot+1:]
	named := suffix == "zip" || suffix == "mod" || suffix == "info"
	return mod, suffix, named && errors.Join(errs[:]...) == nil && canonical && module.Check(mod.Path, mod.Version) == nil
}

// sum returns the hash of a module's zip or go.mod.
func (g *gomod) sum(q *request) (rec record, sum Sum, known bool) {
	mod, suffix, ok := versionOf(q.path)
	if !ok || suffix == "info" {
		return rec, sum, false
	}
	rec, kind, name := typed("application/zip"), GoZip, mod.Version
	if suffix == "mod" {
		rec, kind, name = typed("text/plain; charset=utf-8"), GoMod, mod.Version+"/go.mod"
	}
	path, version, ok := strings.Cut(strings.TrimSuffix(q.path, "."+suffix), "/@v/") // escaped
	if ok && g.supported(q.r.Context()) && !module.MatchPrefixPatterns(g.none, mod.Path) {
		lines, err := g.file(q.r.Context(), g.sumdb("lookup/"+path+"@"+version), forEver)
		for line := range strings.Lines(string(lines)) {
			if f := strings.Fields(line); err == nil && len(f) == 3 && f[0] == mod.Path && f[1] == name {
				sum, err := parseH1(kind, f[2])
				return rec, sum, err == nil
			}
		}
	}
	if kind == GoMod {
		return rec, sum, false
	}
	text, err := g.file(q.r.Context(), path+"/@v/"+version+".ziphash", forEver)
	if err == nil {
		sum, err = parseH1(kind, strings.TrimSpace(string(text)))
	}
	return rec, sum, err == nil
}

func (g *gomod) sumdb(path string) string { return "sumdb/" + g.db + "/" + path }

// supported reports whether the proxy passes the database on.
func (g *gomod) supported(ctx context.Context) bool {
	if g.db == "off" {
		return false
	}
	yes, ok := g.m.open.Get(g.sumdb("supported"))
	if !ok {
		_, err := g.file(ctx, g.sumdb("supported"), shortly)
		if yes = err == nil; yes || !down(err) {
			g.m.open.Add(g.sumdb("supported"), yes)
		}
	}
	return yes
}

// file returns a small file of the proxy.
func (g *gomod) file(ctx context.Context, path string, fresh time.Duration) ([]byte, error) {
	u, err := below(g.base, path)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, hashTime)
	defer cancel()
	return g.m.small(ctx, named{name: "go/" + path, fresh: fresh, origin: plainRequest(u)})
}
