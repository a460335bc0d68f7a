package venn

import (
	"errors"
	"testing"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// published is a run of one origin, and its summary of n keys.
func published(n int) (*run, *epoch) {
	fps := make([]summary.Fingerprint, n)
	for i := range fps {
		fps[i] = summary.Fingerprint(strategy.Scramble(uint64(i)) >> 16)
	}
	r := &run{seed: summary.Seed{Network: "sim"}, origins: make([]origin, 1), world: strategy.World{
		Collection: func(strategy.ID) []summary.Fingerprint { return fps },
	}}
	r.shape = func(n int) (summary.Shape, error) { return summary.DefaultShape(n), nil }
	r.publish(0, core.Lifetime)
	return r, r.origins[0].epoch
}

// firstHost is the host of peer 0. It keeps what is sent last.
type firstHost struct {
	strategy.Host
	sent strategy.Message
}

func (*firstHost) Self() strategy.ID                        { return 0 }
func (h *firstHost) Send(_ strategy.ID, m strategy.Message) { h.sent = m }

// Of an empty collection nothing is missing.
func TestTwinOfNothing(t *testing.T) {
	r, e := published(0)
	if n := r.twin(0, e).Stream.Header().N; n != 0 {
		t.Errorf("%d keys", n)
	}
}

// A twin has the number of the epoch and another content. Wrong signatures are refused.
func TestSpoiledSummaries(t *testing.T) {
	r, e := published(2000)
	twin := r.twin(0, e)
	h, err := openHeader(twin.Envelope)
	if own := e.Stream.Header(); err != nil || h.Epoch != own.Epoch || h.Chain == own.Chain || h.N != own.N-1 {
		t.Fatalf("twin %+v of %+v: %v", h, own, err)
	}
	twin.Envelope[len(twin.Envelope)-1] ^= 1
	if _, err := openHeader(twin.Envelope); !errors.Is(err, errSignature) {
		t.Errorf("a wrong signature: %v", err)
	}
}
