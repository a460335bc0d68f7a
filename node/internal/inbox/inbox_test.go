package inbox

import (
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
)

func TestChangesAreCombined(t *testing.T) {
	for _, c := range []struct {
		changes []Change
		want    Change
	}{
		{nil, Unchanged},
		{[]Change{Begun}, Begun},
		{[]Change{Begun, Ended}, Ended},
		{[]Change{Ended, Begun}, EndedAndBegun},
		{[]Change{Ended, Begun, Begun}, EndedAndBegun},
		{[]Change{Ended, Begun, Ended}, Ended},
	} {
		b := New()
		b.Charged("p", 3)
		for _, x := range c.changes {
			b.MeshChanged("p", x)
		}
		b.Charged("p", 4)
		var got PeerState
		b.Take(func(_ peer.ID, s PeerState) { got = s })
		if got.Mesh != c.want || got.Charged != 7 || got.Link != Unchanged {
			t.Errorf("%v: got %+v", c.changes, got)
		}
		b.Take(func(peer.ID, PeerState) { t.Error("taken twice") })
	}
}

func TestStatesComeInOrder(t *testing.T) {
	b := New()
	for _, p := range []peer.ID{"c", "a", "b"} {
		b.LinkChanged(p, Begun)
	}
	var got []peer.ID
	b.Take(func(p peer.ID, _ PeerState) { got = append(got, p) })
	if !slices.Equal(got, []peer.ID{"a", "b", "c"}) {
		t.Error(got)
	}
}

func TestPartialsAreBounded(t *testing.T) {
	b := New()
	for i := range 8 {
		if !b.OfferPartial(Partial{Bytes: 1 << 20}) {
			t.Fatalf("MiB number %d is refused", i)
		}
	}
	if b.OfferPartial(Partial{Bytes: 1}) {
		t.Error("a byte more than 8 MiB is taken")
	}
	b.Took(<-b.Partials)
	if !b.OfferPartial(Partial{Bytes: 1 << 20}) {
		t.Error("there is room again, but nothing is taken")
	}
}
