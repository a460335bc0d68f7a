package mirror

import (
	"cmp"
	"context"
	"errors"
	"io"
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

func newGo(m *Mirror, bases []*url.URL) adapter {
	db, _, _ := strings.Cut(cmp.Or(os.Getenv("GOSUMDB"), "sum.golang.org"), "+") // NAME+KEY, or NAME
	db, _, _ = strings.Cut(db, " ")
	g := &gomod{m, bases[0], db, cmp.Or(os.Getenv("GONOSUMDB"), os.Getenv("GOPRIVATE"))}
	return adapter{known: g.known, fresh: func(path string) time.Duration {
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

// known returns the hash of a module's zip or go.mod.
func (g *gomod) known(q *request) (rec record, ok bool) {
	mod, suffix, ok := versionOf(q.path)
	if !ok || suffix == "info" {
		return rec, false
	}
	contentType, kind, name := "application/zip", GoZip, mod.Version
	if suffix == "mod" {
		contentType, kind, name = "text/plain; charset=utf-8", GoMod, mod.Version+"/go.mod"
	}
	path, version, _ := strings.Cut(strings.TrimSuffix(q.path, "."+suffix), "/@v/") // escaped
	var h1 string
	if !module.MatchPrefixPatterns(g.none, mod.Path) && g.supported(q.r.Context()) {
		for line := range strings.Lines(g.file(q.r.Context(), g.sumdb("lookup/"+path+"@"+version))) {
			if f := strings.Fields(line); len(f) == 3 && f[0] == mod.Path && f[1] == name {
				h1 = f[2]
			}
		}
	}
	if h1 == "" && kind == GoZip {
		h1 = strings.TrimSpace(g.file(q.r.Context(), path+"/@v/"+version+".ziphash"))
	}
	sum, err := parseH1(kind, h1)
	return typed(contentType, sum), err == nil
}

func (g *gomod) sumdb(path string) string { return "sumdb/" + g.db + "/" + path }

// supported reports whether the proxy passes the database on.
func (g *gomod) supported(ctx context.Context) bool {
	return g.db != "off" && g.m.opens(g.sumdb("supported"), func() error {
		_, err := g.read(ctx, g.sumdb("supported"), shortly)
		return err
	})
}

// file returns a small file of the proxy that never changes, empty if there is none.
func (g *gomod) file(ctx context.Context, path string) string {
	text, err := g.read(ctx, path, forEver)
	if err != nil {
		return ""
	}
	return string(text)
}

// read returns a small file of the proxy.
func (g *gomod) read(ctx context.Context, path string, fresh time.Duration) ([]byte, error) {
	u, err := below(g.base, path)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, hashTime)
	defer cancel()
	rec, _, err := g.m.resolve(ctx, named{name: "go/" + path, fresh: fresh, origin: requestTo(u, nil)})
	if err != nil {
		return nil, err
	}
	f, size, ok := g.m.body(rec)
	if !ok {
		return nil, errFull
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.NewSectionReader(f, 0, min(size, maxSmall)))
}
