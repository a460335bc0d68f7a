package venn

import (
	"bytes"
	"crypto/sha256"
	"time"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// tailItems is a message of tails.
type tailItems []wire.TailItem

const signatureBytes = 64

// tailsConfig has tails signed with a hash: as long as a signature, and as costly to nobody.
func (v *node) tailsConfig() tails.Config {
	if v.older {
		return tails.Config{}
	}
	sign := func(origin string, message []byte) []byte {
		sum := sha256.Sum256(append([]byte(origin), message...))
		return append(make([]byte, signatureBytes-len(sum), signatureBytes), sum[:]...)
	}
	return tails.Config{
		Sign: func(message []byte) ([]byte, error) { return sign(string(peerID(v.host.Self())), message), nil },
		Verify: func(origin string, message, signature []byte) error {
			if !bytes.Equal(signature, sign(origin, message)) {
				return tails.ErrSigner
			}
			return nil
		},
	}
}

// touched are the changes that neither a tail nor an epoch has carried.
type touched struct {
	held  map[summary.Fingerprint]bool
	order []summary.Fingerprint
}

func (t *touched) note(c strategy.Changed) {
	if t.held == nil {
		t.held = map[summary.Fingerprint]bool{}
	}
	f := c.Key.Fingerprint
	if _, before := t.held[f]; !before {
		t.order = append(t.order, f)
	}
	t.held[f] = c.Held
}

// take empties t.
func (t *touched) take() (in tails.Changed) {
	for _, f := range t.order {
		if t.held[f] {
			in.Added = append(in.Added, f)
		} else {
			in.Removed = append(in.Removed, f)
		}
	}
	t.held, t.order = nil, nil
	return in
}

// changed takes in a change of the collection.
func (v *node) changed(now time.Duration, c strategy.Changed) {
	v.run.origins[v.host.Self()].changed = true
	v.touched.note(c)
	v.step(now, core.Changed{Waiting: len(v.touched.order), Many: len(v.touched.order) > tails.MaxStep})
}

// knock asks whether a peer is still there that has ended a link. A connection is made for it if there is none.
type knock struct{}
