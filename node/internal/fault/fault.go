// Package fault tells which errors are the fault of a message's sender: an error of a codec or of a signature is, one of
// the network or of this node is not.
package fault

import (
	"errors"

	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Of reports whether the other end is at fault for err, and names the fault.
func Of(err error) (reason string, bad bool) {
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
