package overlay_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/overlaylab"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// TestVouchedIsKnown: peers with memory for some thirty origins know nearly all peers of the ranges that they vouch for,
// small as collections are. A minute after more peers join, so it is with those, too.
func TestVouchedIsKnown(t *testing.T) {
	n, collections, seeds := 150, []int{10, 50}, uint64(2)
	if testing.Short() {
		n, collections, seeds = 100, []int{10}, 1
	}
	for _, keys := range collections {
		for seed := range seeds {
			collection := func(i int) []summary.Fingerprint {
				return append(overlaylab.Fingerprints(keys*4/5, 0, uint64(1000+i%15)), overlaylab.Fingerprints(keys/5, 0, uint64(i))...)
			}
			config := overlay.Config{Up: fast, Down: fast, Cache: shared, Memory: 60_000}
			net := joinedBy(t, seed, slices.Repeat([]overlay.Config{config}, n), collection)
			net.Run(net.Now + 90*time.Second)
			vouched(t, net, fmt.Sprintf("%d peers of %d keys, seed %d", n, keys, seed))
			for i := n; i < n+n/10; i++ {
				if _, err := net.Add(wire.PeerID(fmt.Sprint("late ", i)), config); err != nil {
					t.Fatal(err)
				}
				net.Publish(i, collection(i))
				net.Connect(i, i/2)
				net.Connect(i, i-1)
				net.Run(net.Now + 100*time.Millisecond)
			}
			net.Run(net.Now + time.Minute)
			vouched(t, net, fmt.Sprintf("%d peers of %d keys and %d late ones, seed %d", n, keys, n/10, seed))
		}
	}
}

// vouched fails the test if in the ranges that peers vouch for more than one of 100 peers is unknown, or if more than one
// in 50 peers knows clearly less than nine tenths of its range.
func vouched(t *testing.T, net *overlaylab.Network, name string) {
	t.Helper()
	known, unknown, few := 0, 0, 0
	for i, p := range net.Peers {
		in, of, covered := 0, 0, p.Overlay.Covers()
		for j, other := range net.Peers {
			if i == j || !covered.Contains(other.ID.Place()) {
				continue
			}
			of++
			if _, held := p.Overlay.Held(other.ID); held {
				in++
			}
		}
		known, unknown = known+in, unknown+of-in
		if 10*in < 9*of-10 {
			few++
		}
	}
	said := fmt.Sprintf("%s: in ranges vouched for, %d peers are known and %d are not; %d know too few", name, known, unknown, few)
	if t.Log(said); 100*unknown > known || 50*few > len(net.Peers) {
		t.Error(said)
	}
}
