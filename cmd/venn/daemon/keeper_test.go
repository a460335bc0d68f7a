package daemon

import (
	"strconv"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

// TestBackoff: a peer that cannot be reached is dialled less and less often, and never less than every three minutes.
func TestBackoff(t *testing.T) {
	var a attempts
	now, last := time.Unix(0, 0), time.Duration(0)
	for i := range 20 {
		least, most := a.after(now, 0).next.Sub(now), a.after(now, 0.999).next.Sub(now)
		if least < last || least < dialAgain*3/4-1 || most > dialRare*5/4 || most < least*3/2 {
			t.Errorf("attempt %d: from %v to %v after %v", i, least, most, last)
		}
		a, last = a.after(now, 0), least
	}
}

// TestTriedForgotten: peers that multicast DNS named once are forgotten. Those still named wait as long as before.
func TestTriedForgotten(t *testing.T) {
	h := must(libp2p.New(libp2p.NoListenAddrs))
	t.Cleanup(func() { _ = h.Close() })
	k := newKeeper(nil, h, nil)
	now := time.Now()
	for i := range 1000 {
		k.HandlePeerFound(peer.AddrInfo{ID: peer.ID(strconv.Itoa(i))})
		if got := k.wanted(now); len(got) != 1 {
			t.Fatalf("%d peers are dialled, want the one that was found", len(got))
		}
	}
	if got := k.wanted(now.Add(time.Second)); len(got) > 0 || len(k.tried) != 1000 {
		t.Fatalf("%d peers are dialled too soon, %d are remembered", len(got), len(k.tried))
	}
	if got := k.wanted(now.Add(2 * dialRare)); len(got) != maxFound || len(k.tried) != maxFound {
		t.Errorf("%d peers are dialled and %d remembered, want %d", len(got), len(k.tried), maxFound)
	}
}

// TestAnnounced: addresses are announced in place of the host's, or besides, each once.
func TestAnnounced(t *testing.T) {
	a, b := ma.StringCast("/ip4/1.2.3.4/tcp/1"), ma.StringCast("/ip4/5.6.7.8/tcp/1")
	for _, c := range []struct{ own, announce, also, want []ma.Multiaddr }{
		{want: []ma.Multiaddr{}},
		{own: []ma.Multiaddr{a}, want: []ma.Multiaddr{a}},
		{own: []ma.Multiaddr{a}, announce: []ma.Multiaddr{b}, want: []ma.Multiaddr{b}},
		{own: []ma.Multiaddr{a}, also: []ma.Multiaddr{b, a}, want: []ma.Multiaddr{a, b}},
		{own: []ma.Multiaddr{a}, announce: []ma.Multiaddr{b}, also: []ma.Multiaddr{a}, want: []ma.Multiaddr{b, a}},
	} {
		if got := announced(c.own, c.announce, c.also); len(got) != len(c.want) || len(got) > 0 && !got[0].Equal(c.want[0]) {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
}
