package directory

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/cache"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// TestTwoSeeds: while a network rotates its seed, each peer is a candidate once: by its summary under the current seed,
// or by that under the previous one if it has no other, whichever came first. Once the previous seed has ended, nothing
// under it is held or taken, and that is nobody's fault. Nothing under a third seed is ever taken.
func TestTwoSeeds(t *testing.T) {
	const end = time.Minute
	current, previous := summary.Seed{Network: "slow"}, summary.Seed{Network: "slow", Number: 7}
	key := []byte("everybody's")
	under := func(s summary.Seed, p wire.PeerID) plain.Origin {
		fps := []summary.Fingerprint{s.Hasher().Fingerprint(key)}
		return plain.New(p, append(fps, plain.Keys(rand.New(rand.NewPCG(1, uint64(len(p)))), 300)...), summary.Header{Seed: s.Tag()})
	}
	all := []plain.Origin{under(current, "rotated"), under(previous, "rotated"), under(previous, "late"), under(current, "new")}
	backwards := slices.Clone(all)
	slices.Reverse(backwards)
	for _, order := range [][]plain.Origin{all, backwards} {
		for _, c := range []*cache.Cache{nil, cache.New(1 << 20)} { // an index is asked, or each summary
			d := alone(rand.New(rand.NewPCG(1, 1)), Config{Memory: 1 << 20, MaxOrigins: 100, Previous: previous, PreviousUntil: end, Cache: c})
			d.Open("link", "")
			for _, s := range order {
				if r, ok := hear(d, 0, "link", s); !ok {
					t.Fatalf("%s under %v: %+v", s.ID, s.Stream.Header().Seed, r)
				}
			}
			if r, ok := hear(d, 0, "link", under(summary.Seed{Network: "slow", Number: 9}, "neither")); ok || r.Fault != "" {
				t.Errorf("under a seed that is neither: taken %v, fault %q", ok, r.Fault)
			}
			d.Changes()
			check := func(now time.Duration, unrotated int, want ...wire.PeerID) {
				t.Helper()
				var got []wire.PeerID
				rates := 0.0
				for _, e := range d.Candidates(key, current.Hasher().Fingerprint(key)) {
					got = append(got, e.Peer())
					rates += e.Held().FalsePositiveRate()
					if held := e.Held().Header().Seed; held != current.Tag() && e.Peer() != "late" {
						t.Errorf("at %v: %s answers by its summary under %v", now, e.Peer(), held)
					}
				}
				if slices.Sort(got); !slices.Equal(got, want) || d.Origins() != len(want) || d.Unrotated() != unrotated || math.Abs(d.FalseMatches()-rates) > 1e-9 {
					t.Errorf("at %v: candidates %v, want %v; %d origins, %d of them under the previous seed, %v false matches, want %v",
						now, got, want, d.Origins(), d.Unrotated(), d.FalseMatches(), rates)
				}
				if err := d.Check(now); err != nil {
					t.Error(err)
				}
			}
			check(0, 1, "late", "new", "rotated")
			both := d.Memory()
			keep(d, end)
			check(end, 0, "new", "rotated")
			if d.Rotating() || d.Memory() >= both {
				t.Errorf("it rotates: %v; %d bytes before the end, %d after it", d.Rotating(), both, d.Memory())
			}
			if r, ok := hear(d, end+agenda.Beat, "link", under(previous, "asked for")); ok || r.Fault != "" {
				t.Errorf("what comes under the seed that has ended: taken %v, fault %q", ok, r.Fault)
			}
			check(end, 0, "new", "rotated")
		}
	}
}
