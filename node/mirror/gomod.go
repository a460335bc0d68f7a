package mirror

import (
	"bufio"
	"cmp"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"golang.org/x/mod/module"
)

// newGo returns the adapter to a module proxy. A module's zip comes from peers when its hash is known. The hash comes from
// the checksum database, through the proxy, else from the proxy's .ziphash file. The mirror trusts the proxy; the go
// command checks the zip by go.sum and the database's signature. The environment names the database, as for the go
// command: GOSUMDB, GONOSUMDB and GOPRIVATE. Content without a known hash, such as go.mod files, comes from the proxy.
func newGo(*Mirror, []*url.URL) adapter {
	db, _, _ := strings.Cut(cmp.Or(os.Getenv("GOSUMDB"), "sum.golang.org"), "+") // NAME+KEY, or NAME
	db, _, _ = strings.Cut(db, " ")
	none := cmp.Or(os.Getenv("GONOSUMDB"), os.Getenv("GOPRIVATE")) // patterns of modules
	return func(q *request) error {
		q.known = func() (record, bool) { return knownZip(q, db, none) }
		if _, _, ok := versionOf(q.path); ok || strings.Contains(q.path, "/tile/") || strings.Contains(q.path, "/lookup/") {
			q.fresh = forEver
		}
		return nil
	}
}

// versionOf reads MODULE/@v/VERSION.SUFFIX (zip, mod or info), escaped twice: an upper-case letter is a ! and the small
// one, and the go command sends %21 for !. ok is false for other paths and changing versions.
func versionOf(escaped string) (mod module.Version, suffix string, ok bool) {
	plain, _ := url.PathUnescape(escaped) // what cannot be read is empty, which is no module
	at, file, _ := strings.Cut(plain, "/@v/")
	suffix = strings.TrimPrefix(path.Ext(file), ".")
	mod.Path, _ = module.UnescapePath(at)
	mod.Version, _ = module.UnescapeVersion(strings.TrimSuffix(file, "."+suffix))
	canonical := module.CanonicalVersion(mod.Version) == mod.Version
	named := suffix == "zip" || suffix == "mod" || suffix == "info"
	return mod, suffix, named && canonical && module.Check(mod.Path, mod.Version) == nil
}

// forEver is the time for which content that never changes is not asked for again, nor a peer that failed. For a look, it
// is the age up to which knowledge counts.
const forEver = 365 * 24 * time.Hour

// knownZip returns the hash of a module's zip, by the first of two small files that tells it. They never change, and are
// asked for without credentials. db is the name of the checksum database, or off; it lacks modules that match none.
func knownZip(q *request, db, none string) (rec record, ok bool) {
	mod, suffix, ok := versionOf(q.path)
	if !ok || suffix != "zip" {
		return rec, false
	}
	files := []string{strings.TrimSuffix(q.path, "zip") + "ziphash"}
	if db != "off" && !module.MatchPrefixPatterns(none, mod.Path) {
		at := strings.Replace(strings.TrimSuffix(q.path, ".zip"), "/@v/", "@", 1) // escaped
		files = []string{"sumdb/" + db + "/lookup/" + at, files[0]}
	}
	for _, file := range files {
		origin, err := requestTo(q.base, file, "", http.Header{})
		if err == nil {
			rec, err = q.resolve(q.r.Context(), named{name: "go-sum/" + file, fresh: forEver, origin: origin, told: zipOf(mod)})
		}
		if err == nil {
			return record{Sum: rec.Sum}, true
		}
	}
	return record{}, false
}

// zipOf reads the sum of a module's zip: its hash stands in a line by itself, or behind the module and its version.
func zipOf(mod module.Version) func(*http.Response) (Sum, http.Header, error) {
	return func(answer *http.Response) (Sum, http.Header, error) {
		for lines := bufio.NewScanner(io.LimitReader(answer.Body, maxSmall)); lines.Scan(); {
			if sum, err := goSum(strings.TrimPrefix(lines.Text(), mod.Path+" "+mod.Version+" ")); err == nil {
				return sum, nil, nil
			}
		}
		return "", nil, errSum
	}
}
