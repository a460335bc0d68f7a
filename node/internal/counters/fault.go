package counters

import (
	"errors"

	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Fault reports whether the sender of a message is at fault for err, and names the fault: an error of a codec or of a
// signature is; one of the network or of this node is not.
func Fault(err error) (reason string, bad bool) {
	switch {
	case errors.Is(err, wire.ErrLimit), errors.Is(err, summary.ErrLimit):
		return "over the limit", true
	case errors.Is(err, wire.ErrMalformed), errors.Is(err, summary.ErrMalformed):
		return "malformed", true
	case errors.Is(err, signed.ErrSignature):
		return "signature", true
	}
	return "", false
}
