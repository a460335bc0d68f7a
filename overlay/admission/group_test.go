package admission

import (
	"net/netip"
	"slices"
	"testing"
)

// TestPath: an address shares in its networks, the widest first. IPv4 addresses are the same in both forms.
func TestPath(t *testing.T) {
	for _, c := range []struct {
		addr string
		want []string
	}{
		{"1.2.3.4", []string{"1.2", "1.2/3", "1.2/3/4", "1.2/3/4/p"}},
		{"::ffff:1.2.3.4", []string{"1.2", "1.2/3", "1.2/3/4", "1.2/3/4/p"}},
		{"2a01:4f8:17:8::9", []string{"2a01:04f8", "2a01:04f8/0017", "2a01:04f8/0017/0008", "2a01:04f8/0017/0008/p"}},
	} {
		got := Principal{Peer: "p", Group: Group(netip.MustParseAddr(c.addr).AsSlice())}.Path()
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.addr, got, c.want)
		}
	}
	if got := (Principal{Peer: "p", Group: Group([]byte{1, 2})}).Path(); !slices.Equal(got, []string{"p"}) {
		t.Errorf("no address: %q", got)
	}
}

// TestGatesPlaces: the holders of all places in one network leave places to a peer of another, and give them back.
func TestGatesPlaces(t *testing.T) {
	g := New(1, 8)
	var held []*Slot
	for i := range byte(9) {
		if s := g.Take(Principal{Peer: "bad", Group: Group([]byte{1, 2, i, 1})}, func() {}); s != nil {
			held = append(held, s)
		}
	}
	if len(held) != 8 || g.Held() != 8 {
		t.Errorf("%d places, %d held, want 8", len(held), g.Held())
	}
	if g.Take(Principal{Peer: "p", Group: Group([]byte{9, 9, 9, 9})}, func() {}) == nil {
		t.Error("another network is refused")
	}
	for _, s := range held {
		s.Release()
	}
	if g.Held() != 1 {
		t.Errorf("%d places are left", g.Held())
	}
}
