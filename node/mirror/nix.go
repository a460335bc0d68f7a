package mirror

import (
	"encoding/hex"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/nix-community/go-nix/pkg/narinfo"
	"github.com/nix-community/go-nix/pkg/nixhash"
)

// newNix returns the adapter to a Nix binary cache. The narinfo of a store path comes from the cache, whose signature
// the client checks. The archive that a narinfo names comes from peers, by the hash in the narinfo.
func newNix(m *Mirror, _ []*url.URL) adapter {
	learn := func(_ record, narinfo io.Reader) {
		if path, sum, ok := parseNarinfo(narinfo); ok {
			m.remember(record{Name: archive(path), Sum: sum, Asked: time.Now()})
		}
	}
	return func(q *request) error {
		q.learn = learn
		if strings.HasSuffix(q.path, ".narinfo") {
			q.fresh = notedTime // nix copy asks for each three times
		} else if q.path != "nix-cache-info" {
			q.fresh = unkept
		}
		q.known = func() (record, bool) {
			rec, ok := m.recall(archive(q.path))
			return record{Sum: rec.Sum}, ok
		}
		return nil
	}
}

// archive returns the name under which the hash of an archive is kept.
func archive(path string) string { return "nix-archive/" + path }

// parseNarinfo returns the path and the hash of the archive that a narinfo names. ok is false if it lacks either.
func parseNarinfo(r io.Reader) (path string, sum Sum, ok bool) {
	info, err := narinfo.Parse(io.LimitReader(r, maxSmall))
	if err != nil || info.FileHash == nil || info.FileHash.Algo() != nixhash.SHA256 {
		return "", sum, false
	}
	sum, err = plainSum(hex.EncodeToString(info.FileHash.Digest()))
	return info.URL, sum, err == nil && info.URL != ""
}
