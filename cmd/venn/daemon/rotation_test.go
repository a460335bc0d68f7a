package daemon

import (
	"fmt"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"go.uber.org/goleak"

	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node/leaktest"
)

// TestRotation: two daemons change their seed, one after the other. Their stores were written under the old one:
// nothing is lost, and they find each other's keys all the while.
func TestRotation(t *testing.T) {
	before := goleak.IgnoreCurrent()
	repos := []repo.Repo{newRepo(t), newRepo(t)}
	for _, r := range repos {
		configure(t, r, func(c *repo.Config) { c.Addresses.Listen = []string{"/ip4/127.0.0.1/tcp/0"} })
	}
	daemons, stops := make([]*daemon, 2), make([]func() error, 2)
	open := func(i int, others ...peer.AddrInfo) {
		_, daemons[i], stops[i] = start(t, repos[i], others...)
	}
	end := func(i int) {
		noErr(t, stops[i]())
	}
	check := func(when string, seeds ...uint32) {
		t.Helper()
		for i, d := range daemons {
			other := daemons[1-i]
			eventually(t, fmt.Sprintf("%s, daemon %d knows the other", when, i), func() bool {
				held, err := d.node.SummaryOf(t.Context(), other.node.ID())
				return err == nil && held.Header().Seed.Number == seeds[i]
			})
			for k := range 20 {
				if key := fmt.Sprintf("%d/%d", 1-i, k); !finds(t, d.node, key, time.Minute) {
					t.Errorf("%s, daemon %d does not find %q", when, i, key)
				}
			}
			if d.store.Count() != keysEach || d.store.Private().Count() != 1 || !must(d.node.Has(fmt.Appendf(nil, "%d/private", i))) {
				t.Errorf("%s, daemon %d has %d keys and %d private ones", when, i, d.store.Count(), d.store.Private().Count())
			}
		}
	}
	for i := range daemons {
		open(i)
		addKeys(t, daemons[i].node, numbered(i)...)
		must(daemons[i].node.AddPrivate(t.Context(), fmt.Appendf(nil, "%d/private", i)))
	}
	noErr(t, daemons[0].node.Connect(t.Context(), *host.InfoFromHost(daemons[1].host)))
	check("at first", 0, 0)
	for i := range daemons {
		end(i)
		configure(t, repos[i], func(c *repo.Config) {
			c.Network.PreviousSeed, c.Network.Seed = 0, 1
			c.Network.PreviousUntil = time.Now().Add(time.Hour).Format(time.RFC3339)
		})
		open(i, *host.InfoFromHost(daemons[1-i].host))
		check(fmt.Sprintf("with %d changed", i+1), []uint32{0, 1}[i], []uint32{0, 1}[i])
	}
	end(0)
	end(1)
	leaktest.Check(t, before)
}

// configure changes a repository's configuration.
func configure(t *testing.T, r repo.Repo, change func(*repo.Config)) {
	t.Helper()
	c := must(r.FileConfig())
	change(&c)
	noErr(t, r.SaveConfig(c))
}
