package fault

import (
	"testing"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// named is a host of which nothing is needed but its name.
type named struct{ host.Host }

func (named) ID() peer.ID { return "liar" }

// twins is a peer with two summaries under one number.
func twins(t *testing.T, keys int) *Peer {
	claims := make([]summary.Fingerprint, keys)
	for i := range claims {
		claims[i] = summary.Fingerprint(uint64(i+1) * 0x9e3779b97f4a7c15 >> 16)
	}
	p := &Peer{h: named{}, cfg: Config{Claims: claims, Twin: true, Sign: func(b []byte) ([]byte, error) { return b, nil }}}
	if err := p.sign(); err != nil {
		t.Fatal(err)
	}
	return p
}

// A twin of a key less may have fewer parts. Who holds all of them and asks for the others gets an answer.
func TestShortTwin(t *testing.T) {
	p := twins(t, 2049)
	held, all := p.twin.stream.Parts(), p.claim.stream.Parts()
	if held >= all {
		t.Fatalf("the twin has %d parts of %d", held, all)
	}
	for range 6 { // each way to spoil, of either
		if a := p.answer(wire.Item{Have: uint16(held), Want: uint16(all)}); len(a.Run.Parts) == 0 {
			t.Error("no parts")
		}
	}
}

// Of an empty collection nothing is missing.
func TestTwinOfNothing(t *testing.T) {
	if n := twins(t, 0).twin.stream.Header().N; n != 0 {
		t.Errorf("%d keys", n)
	}
}
