package mirror

import (
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/nix-community/go-nix/pkg/narinfo"
	"github.com/nix-community/go-nix/pkg/nixhash"
)

// pathTime is for how long the cache's word on a store path holds: it hardly ever changes.
const pathTime = time.Hour

// newNix returns the adapter to a Nix binary cache. What a store path is (narinfo) is the cache's signed word, which the
// client checks. The archive that it names comes from peers, by the hash that stands there.
func newNix(m *Mirror, _ *url.URL) adapter {
	return adapter{answer: func(q *request) {
		rec, known := m.names.get(archive(q.path))
		sum, err := ParseSum(rec.Sum)
		switch {
		case known && err == nil:
			q.serve(typed("application/x-nix-nar"), sum)
		case strings.HasSuffix(q.path, ".narinfo"):
			q.serveNamed(named{fresh: pathTime, learn: m.learnArchive})
		case q.path == "nix-cache-info":
			q.serveNamed(named{fresh: pathTime})
		default:
			q.through()
		}
	}}
}

// archive is the name under which the hash of an archive is kept.
func archive(path string) string { return "nix-archive/" + path }

// learnArchive takes in which hash an archive has.
func (m *Mirror) learnArchive(narinfo record) {
	f, size, ok := m.body(narinfo)
	if !ok {
		return
	}
	defer func() { _ = f.Close() }()
	if path, sum, ok := parseNarinfo(io.NewSectionReader(f, 0, size)); ok {
		m.keepRecord(record{Name: archive(path), Sum: sum.String(), Asked: time.Now()})
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
