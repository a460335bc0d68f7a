package node

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"
	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/node/store"
)

// bait is a list of addresses that nobody should dial all of.
type bait struct {
	addrs []ma.Multiaddr
	ports []*atomic.Int64 // connections at each address by IP
	names []*atomic.Int64 // connections at each address by a name
	relay peer.ID         // a relay that nobody knows
}

func newBait(t *testing.T) (b bait) {
	t.Helper()
	for i := range 24 {
		at, taken := listenerOf(t, func(c net.Conn) { _ = c.Close() })
		if i%4 > 0 {
			b.addrs, b.ports = append(b.addrs, at), append(b.ports, taken)
			continue
		}
		port := must(at.ValueForProtocol(ma.P_TCP))
		b.addrs, b.names = append(b.addrs, ma.StringCast("/dns4/localhost/tcp/"+port)), append(b.names, taken)
	}
	relay := info(newNode(t))
	b.relay = relay.ID
	b.addrs = append(b.addrs, ma.StringCast(fmt.Sprintf("%s/p2p/%s/p2p-circuit", relay.Addrs[0], relay.ID)))
	return b
}

func taken(of []*atomic.Int64) (n int) {
	for _, c := range of {
		if c.Load() > 0 {
			n++
		}
	}
	return n
}

// TestDialsByRecordAlone: whatever way a peer's addresses come, a node dials eight at most, by IP, that the owner's filter
// lets pass, and no relay that it does not know.
func TestDialsByRecordAlone(t *testing.T) {
	t.Parallel()
	none := WithAddressFilter(func([]ma.Multiaddr) []ma.Multiaddr { return nil })
	saved := func(t *testing.T, b bait) Option {
		s := newStranger(t)
		st := must(store.Open(t.Context(), dssync.MutexWrap(datastore.NewMapDatastore()), newNode(t).cfg.seed))
		if err := st.SavePeers(t.Context(), []store.Peer{{ID: s.id, Record: s.record(t, 1, b.addrs...).Envelope}}); err != nil {
			t.Fatal(err)
		}
		return WithStore(st)
	}
	hinted := func(t *testing.T, n *Node, b bait) {
		var dial *sync.WaitGroup
		look(t, n, func(l *loop) {
			l.hints = nil
			l.hint(n.entrance(peer.AddrInfo{ID: newStranger(t).id, Addrs: b.addrs}))
			dial = l.begin(l.hints)
		})
		dial.Wait()
	}
	for name, way := range map[string]struct {
		dial func(t *testing.T, b bait, o ...Option)
		most int // most ports dialled
	}{
		"what identify said": {func(t *testing.T, b bait, o ...Option) { dialIdentified(t, newNode(t, o...), b, true) }, 0},
		"the last run":       {func(t *testing.T, b bait, o ...Option) { <-newNode(t, append(o, saved(t, b))...).Begun() }, 8},
		"a hint":             {func(t *testing.T, b bait, o ...Option) { hinted(t, newNode(t, o...), b) }, 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for filtered, o := range map[bool][]Option{false: nil, true: {none}} {
				b := newBait(t)
				way.dial(t, b, o...)
				ports, names := taken(b.ports), taken(b.names)
				if names > 0 || ports > way.most || filtered && ports > 0 || !filtered && ports < min(1, way.most) {
					t.Errorf("filtered %v: %d ports and %d names were dialled, want at most %d ports", filtered, ports, names, way.most)
				}
			}
		})
	}
	b := newBait(t)
	if dialIdentified(t, newNode(t), b, false); taken(b.ports) <= 8 || taken(b.names) == 0 {
		t.Errorf("%d ports and %d names are dialled without the defence", taken(b.ports), taken(b.names))
	}
}

// dialIdentified lets a peer say the addresses of a bait by identify and go. Then the node dials it by a record of one
// address. Undefended, it dials as if it had forgotten nothing.
func dialIdentified(t *testing.T, n *Node, b bait, defended bool) {
	t.Helper()
	s := newStranger(t)
	h := hostOf(t, libp2p.Identity(s.key), libp2p.NoListenAddrs, libp2p.DisableMetrics(), libp2p.AddrsFactory(func([]ma.Multiaddr) []ma.Multiaddr { return b.addrs }))
	if err := h.Connect(t.Context(), info(n)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "identify is over", func() bool { return len(n.host.Peerstore().Addrs(s.id)) > 8 })
	_ = h.Close()
	eventually(t, "the peer is gone", func() bool { return !n.reached(s.id) })
	r := s.record(t, 1, ma.StringCast("/ip4/127.0.0.1/tcp/9"))
	var err error
	if defended {
		err = n.reach(t.Context(), r, forQuery)
	} else {
		err = n.dial(t.Context(), peer.AddrInfo{ID: s.id}, forQuery)
	}
	if err == nil || n.reached(b.relay) {
		t.Errorf("dialled: %v; connected with the relay: %v", err, n.reached(b.relay))
	}
}
