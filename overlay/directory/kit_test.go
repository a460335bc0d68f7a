package directory

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/cache"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// signed is an origin's summary; its envelope is the header, which nobody signed.
type signed struct {
	stream           *summary.Prefix
	envelope, record []byte
}

func sign(t testing.TB, id wire.PeerID, fps []summary.Fingerprint) signed {
	t.Helper()
	s, err := summary.Build(fps, summary.Header{
		Seed: tag, Origin: string(id), Epoch: summary.Epoch{Generation: 1, Sequence: 1}, Lifetime: time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := s.Header().AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	return signed{s, envelope, []byte(id)}
}

var tag = summary.Seed{Network: "slow"}.Tag()

// randomKeys returns n random fingerprints.
func randomKeys(rng *rand.Rand, n int) []summary.Fingerprint {
	fps := make([]summary.Fingerprint, n)
	for i := range fps {
		fps[i] = summary.Fingerprint(rng.Uint64() >> (64 - summary.FingerprintBits))
	}
	return fps
}

// alone is a directory that knows nobody, in a network where nobody signs.
func alone(rng *rand.Rand, cfg Config) *Directory {
	cfg.Self, cfg.Seed, cfg.Rand = "self", tag, rng
	cfg.OpenHeader = summary.ParseHeader
	cfg.OpenRecord = func(b []byte) (wire.PeerID, error) { return wire.PeerID(b), nil }
	cfg.NewPrefix, cfg.Extend = summary.NewPrefix, (*summary.Prefix).Extend
	var unshared *cache.Cache
	cfg.ExtendRelative = unshared.ExtendRelative
	return New(cfg)
}
