package venn

import (
	"bytes"
	"crypto/sha256"
	"time"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// tailItems is a message of tails.
type tailItems []wire.TailItem

const signatureBytes = 64

// tailsConfig returns a configuration that signs tails with a cheap hash, padded to the length of a signature.
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

// changed tells the machine of a change of the collection.
func (v *node) changed(now time.Duration, c strategy.Changed) {
	v.run.origins[v.host.Self()].changed = true
	v.unannounced = append(v.unannounced, c.Key)
	v.step(now, core.Changed{Waiting: len(v.unannounced), Many: len(v.unannounced) > tails.MaxStep})
}

// changes returns and clears the unannounced changes, for a tail. A key that is held now counts as added.
func (v *node) changes() (in tails.Changed) {
	for _, k := range v.unannounced {
		if v.host.Holds(k) {
			in.Added = append(in.Added, k.Fingerprint)
		} else {
			in.Removed = append(in.Removed, k.Fingerprint)
		}
	}
	v.unannounced = nil
	return in
}

// knock is sent to check whether a peer can still be reached after its link was lost. If need be, the host connects.
type knock struct{}
