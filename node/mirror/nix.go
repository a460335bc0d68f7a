package mirror

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/nix-community/go-nix/pkg/narinfo"
	"github.com/nix-community/go-nix/pkg/nixhash"
)

// nix is the adapter to a Nix binary cache. What a store path is (narinfo) is the cache's signed word, which the client
// checks. The archive that it names comes from peers, by the hash that stands there.
type nix struct {
	m    *Mirror
	base *url.URL
}

// pathTime is for how long the cache's word on a store path holds: it hardly ever changes.
const pathTime = time.Hour

func newNix(m *Mirror, base *url.URL) adapter { return (&nix{m, base}).serve }

func (n *nix) serve(w http.ResponseWriter, r *http.Request, escaped string) {
	u, err := below(n.base, escaped)
	if err != nil {
		n.m.fail(w, r, "nix/"+escaped, err)
		return
	}
	origin := requestTo(u, r)
	name := "nix/" + escaped
	if !n.m.everybody(r, name, origin) {
		n.m.through(w, r, name, origin)
		return
	}
	if rec, ok := n.m.names.get(archive(escaped)); ok {
		if sum, err := ParseSum(rec.Sum); err == nil {
			n.m.serve(w, r, record{Header: map[string]string{"Content-Type": "application/x-nix-nar"}}, Wanted{sum, name, origin})
			return
		}
	}
	if !strings.HasSuffix(escaped, ".narinfo") && escaped != "nix-cache-info" {
		n.m.through(w, r, name, origin)
		return
	}
	n.m.serveNamed(w, r, named{name: name, fresh: pathTime, origin: origin, learn: n.learn})
}

// archive is the name under which the hash of an archive is kept.
func archive(path string) string { return "nix-archive/" + path }

// learn takes in which hash an archive has.
func (n *nix) learn(rec record) {
	f, size, ok := n.m.body(rec)
	if !ok || size > maxSmall || !strings.HasSuffix(rec.Name, ".narinfo") {
		return
	}
	defer func() { _ = f.Close() }()
	path, sum, ok := parseNarinfo(f)
	if !ok {
		return
	}
	if err := n.m.names.put(record{Name: archive(path), Sum: sum.String(), Asked: time.Now()}); err != nil {
		n.m.log.Warn("mirror: an archive's hash is not kept", "err", err)
	}
}

// parseNarinfo returns the path of the archive that a narinfo names, and its hash; ok is false if it tells neither.
func parseNarinfo(r io.Reader) (path string, sum Sum, ok bool) {
	info, err := narinfo.Parse(io.LimitReader(r, maxSmall))
	if err != nil || info.FileHash == nil || info.FileHash.Algo() != nixhash.SHA256 || len(info.FileHash.Digest()) != len(sum.Hash) {
		return "", sum, false
	}
	copy(sum.Hash[:], info.FileHash.Digest())
	return info.URL, sum, info.URL != ""
}
