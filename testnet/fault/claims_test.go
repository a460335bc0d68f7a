package fault

import (
	"testing"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/summary"
)

// named is a host of which nothing is needed but its name.
type named struct{ host.Host }

func (named) ID() peer.ID { return "liar" }

// The twin has a key less, and of an empty collection nothing is missing.
func TestTwins(t *testing.T) {
	for keys, want := range map[int]int{0: 0, 1: 0, 2: 1} {
		cfg := Config{Claims: make([]summary.Fingerprint, keys), Twin: true}
		p := &Peer{h: named{}, cfg: cfg, seal: func(b []byte) ([]byte, error) { return b, nil }}
		for i := range p.cfg.Claims {
			p.cfg.Claims[i] = summary.Fingerprint(i)
		}
		if err := p.sign(); err != nil || p.twin.Stream.Header().N != want {
			t.Errorf("of %d keys: %d, %v", keys, p.twin.Stream.Header().N, err)
		}
	}
}
