package signed

import (
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/venn-p2p/venn/overlay/wire"
)

func TestAddressGroup(t *testing.T) {
	key, id := newKey(t, crypto.Ed25519)
	for _, c := range []struct {
		addrs []string
		want  string
	}{
		{nil, ""},
		{[]string{"/ip4/127.0.0.1/tcp/1", "/ip4/10.1.2.3/tcp/1"}, ""},
		{[]string{"/ip4/192.168.0.1/tcp/1", "/ip4/8.8.4.4/udp/1/quic-v1"}, "8.8/4"},
		{[]string{"/ip6/2606:4700:1234:5678::1/tcp/1"}, "2606:4700/1234"},
		{[]string{"/dns4/example.org/tcp/1"}, ""},
	} {
		r := wire.Record{Peer: wire.PeerID(id), Envelope: recordOf(t, key, c.addrs...)}
		if got := AddressGroup(r); got != c.want {
			t.Errorf("%v: group %q, want %q", c.addrs, got, c.want)
		}
	}
	if got := AddressGroup(wire.Record{Envelope: []byte("nonsense")}); got != "" {
		t.Errorf("group %q of nonsense", got)
	}
}
