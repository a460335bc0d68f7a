package daemon

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node"
)

var (
	daemons     = flag.Int("daemons", 8, "daemons of TestRestartAmongMany")
	restartTime = flag.Duration("restart", 3*time.Minute, "time within which the one that is started again must be back; an idle machine does it in 10s")
)

const (
	keysEach     = 500
	restartAsked = 200 // queries
)

// TestRestartAmongMany restarts one of many daemons without bootstrap peers. It soon has most of its neighbours again,
// and finds what the others hold.
func TestRestartAmongMany(t *testing.T) {
	if testing.Short() {
		t.Skip("half a minute")
	}
	var first peer.AddrInfo
	var others []peer.ID
	for i := range *daemons - 1 {
		var bootstrap []peer.AddrInfo
		if i > 0 {
			bootstrap = append(bootstrap, first)
		}
		_, d, stop := start(t, newRepo(t), bootstrap...)
		defer func() { _ = stop() }()
		if i == 0 {
			first = *host.InfoFromHost(d.host)
		}
		addKeys(t, d.node, numbered(i)...)
		others = append(others, d.node.ID())
	}
	r := newRepo(t)
	_, d, stop := start(t, r, first)
	addKeys(t, d.node, []byte("of the one started again"))
	eventually(t, "the last daemon has neighbours and knows all", func() bool {
		s, err := d.node.Status(t.Context())
		return err == nil && s.Origins == len(others) && len(neighbours(t, d.node)) >= 4
	})
	before := neighbours(t, d.node)
	noErr(t, stop())
	begun := time.Now()
	_, d, stop = start(t, r)
	defer func() { _ = stop() }()
	var back, found int
	for ; ; time.Sleep(100 * time.Millisecond) {
		if time.Since(begun) > *restartTime {
			t.Fatalf("after %v: %d of %d neighbours back, %d of %d keys found", *restartTime, back, len(before), found, restartAsked)
		}
		back, found = 0, 0
		for _, p := range neighbours(t, d.node) {
			if slices.Contains(before, p) {
				back++
			}
		}
		if back < (len(before)+1)/2 {
			continue
		}
		for q := range restartAsked {
			if finds(t, d.node, fmt.Sprintf("%d/%d", q%len(others), q), 2*time.Second) {
				found++
			}
		}
		if found >= restartAsked*99/100 {
			break
		}
	}
	t.Logf("after %v: %d of %d neighbours back, %d of %d keys found", time.Since(begun).Round(time.Millisecond), back, len(before), found, restartAsked)
}

// numbered are the keys of the daemon of a number.
func numbered(i int) (keys [][]byte) {
	for k := range keysEach {
		keys = append(keys, fmt.Appendf(nil, "%d/%d", i, k))
	}
	return keys
}

func addKeys(t *testing.T, n *node.Node, keys ...[]byte) {
	t.Helper()
	must(n.Add(t.Context(), keys...))
}

func neighbours(t *testing.T, n *node.Node) (out []peer.ID) {
	t.Helper()
	all := must(n.Neighbours(t.Context()))
	for _, p := range all {
		out = append(out, p.Peer)
	}
	return out
}

func finds(t *testing.T, n *node.Node, key string, within time.Duration) bool {
	t.Helper()
	results := must(n.Query(t.Context(), []byte(key), node.QueryOptions{Timeout: within}))
	for range results.Providers() {
		return true
	}
	return false
}
