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

// gomod is the adapter to a module proxy. A module's zip comes from peers when its hash is known. The hash comes from
// the checksum database, through the proxy, else from the proxy's .ziphash file. The mirror trusts the proxy; the go
// command checks the zip by go.sum and the database's signature. The environment names the database, as for the go
// command: GOSUMDB, GONOSUMDB and GOPRIVATE. Content without a known hash, such as go.mod files, comes from the proxy.
type gomod struct {
	db   string // name of the database; off: none is used
	none string // patterns of modules that are not in the database
}

// Times of asking the proxy.
const (
	forEver  = 365 * 24 * time.Hour // time for which content that never changes is not asked for again
	hashTime = 10 * time.Second     // longest wait for a small file
)

func newGo(*Mirror, []*url.URL) adapter {
	db, _, _ := strings.Cut(cmp.Or(os.Getenv("GOSUMDB"), "sum.golang.org"), "+") // NAME+KEY, or NAME
	db, _, _ = strings.Cut(db, " ")
	g := &gomod{db, cmp.Or(os.Getenv("GONOSUMDB"), os.Getenv("GOPRIVATE"))}
	return func(q *request) error {
		q.known = func() (record, bool) { return g.known(q) }
		if _, suffix, ok := versionOf(q.path); ok && suffix != "" || strings.Contains(q.path, "/tile/") || strings.Contains(q.path, "/lookup/") {
			q.fresh = forEver
		}
		return nil
	}
}

// versionOf reads MODULE/@v/VERSION.SUFFIX (zip, mod or info). ok is false for other paths and changing versions.
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

// known returns the hash of a module's zip.
func (g *gomod) known(q *request) (rec record, ok bool) {
	mod, suffix, ok := versionOf(q.path)
	if !ok || suffix != "zip" {
		return rec, false
	}
	path, version, _ := strings.Cut(strings.TrimSuffix(q.path, ".zip"), "/@v/") // escaped
	h1 := ""
	if g.db != "off" && !module.MatchPrefixPatterns(g.none, mod.Path) {
		lines, _ := q.small("sumdb/" + g.db + "/lookup/" + path + "@" + version)
		for line := range strings.Lines(lines) {
			if f := strings.Fields(line); len(f) == 3 && f[0] == mod.Path && f[1] == mod.Version {
				h1 = f[2]
			}
		}
	}
	if h1 == "" {
		h1, _ = q.small(path + "/@v/" + version + ".ziphash")
	}
	sum, err := goSum(strings.TrimSpace(h1))
	return record{Sum: sum}, err == nil
}

// small asks the request's proxy for a small file that never changes, without credentials, and returns its text, cut to
// maxSmall bytes.
func (q *request) small(path string) (string, error) {
	origin, err := requestTo(q.base, path, "", nil)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(q.r.Context(), hashTime)
	defer cancel()
	rec, err := q.resolve(ctx, named{name: "go/" + path, fresh: forEver, origin: origin})
	if err != nil {
		return "", err
	}
	f, size, ok := q.cache.open(rec.Sum)
	if !ok {
		return "", errDisk
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.NewSectionReader(f, 0, min(size, maxSmall)))
	return string(text), err
}
