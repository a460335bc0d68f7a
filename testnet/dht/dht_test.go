package dht_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/testnet"
	"github.com/venn-p2p/venn/testnet/dht"
)

// A DHT of few peers finds everything; announcing a key takes a message at least for each of the peers that get its
// record.
func TestClassic(t *testing.T) {
	cfg := testnet.Config{Peers: 6, Chunk: 1 << 40, Queries: 10, Seed: 1, FindTimeout: time.Minute}
	found := func(r testnet.SystemRow) bool { return r.FindOne.Recall == 1 && r.FindAll.Recall >= 0.99 }
	var c *testnet.Comparison
	for range 3 { // a busy machine may answer a query of the DHT late
		var err error
		if c, err = testnet.Compare(t.Context(), cfg, dht.Classic()); err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v", c.Rows[0])
		if r := c.Rows[0]; r.FindOne.Wrong+r.FindAll.Wrong > 0 {
			t.Errorf("wrong holders: find one %+v, find all %+v", r.FindOne, r.FindAll)
		}
		if found(c.Rows[0]) {
			break
		}
	}
	r := c.Rows[0]
	if !found(r) {
		t.Errorf("find one %+v, find all %+v", r.FindOne, r.FindAll)
	}
	if r.Announced == 0 || r.Announced >= c.Holdings || r.AnnounceMessages < 5 || r.AnnounceBytes < 5*100 {
		t.Errorf("announced %d of %d at %v messages and %v bytes", r.Announced, c.Holdings, r.AnnounceMessages, r.AnnounceBytes)
	}
}

// crossing is a host whose first connection fails.
type crossing struct {
	host.Host
	tried atomic.Int32
}

func (h *crossing) Connect(ctx context.Context, p peer.AddrInfo) error {
	if h.tried.Add(1) == 1 {
		return errors.New("both ends dialled")
	}
	return h.Host.Connect(ctx, p)
}

// A peer whose first dial fails tries again, and joins.
func TestJoinAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("waits until libp2p dials again, 6 s")
	}
	var hosts [2]host.Host
	for i := range hosts {
		h, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.DisableRelay())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = h.Close() })
		hosts[i] = h
	}
	late := &crossing{Host: hosts[1]}
	for _, place := range []testnet.Place{{Host: hosts[0]}, {Host: late, Begin: []peer.AddrInfo{*host.InfoFromHost(hosts[0])}}} {
		p, err := dht.Classic().Open(place)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		if len(place.Begin) == 0 {
			continue // it waits until somebody has come
		}
		if err := p.Join(t.Context()); err != nil || late.tried.Load() < 2 {
			t.Errorf("after %d dials: %v", late.tried.Load(), err)
		}
	}
}
