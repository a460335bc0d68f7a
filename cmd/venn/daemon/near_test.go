package daemon

import (
	"testing"

	ma "github.com/multiformats/go-multiaddr"
)

// TestNearByTCP: near peers are dialled by TCP first, others as libp2p does it.
func TestNearByTCP(t *testing.T) {
	t.Parallel()
	for ip, tcpFirst := range map[string]bool{"10.1.0.1": true, "127.0.0.1": true, "93.184.216.34": false} {
		tcp, quic := ma.StringCast("/ip4/"+ip+"/tcp/4101"), ma.StringCast("/ip4/"+ip+"/udp/4101/quic-v1")
		ranked := nearByTCP([]ma.Multiaddr{tcp, quic})
		if len(ranked) != 2 {
			t.Fatal(ranked)
		}
		if ranked[0].Addr.Equal(quic) {
			ranked[0], ranked[1] = ranked[1], ranked[0]
		}
		if got := ranked[0].Delay < ranked[1].Delay; got != tcpFirst {
			t.Errorf("%s: TCP first %v, want %v", ip, got, tcpFirst)
		}
	}
}
