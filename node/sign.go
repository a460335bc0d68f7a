package node

import (
	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/venn-p2p/venn/summary"
)

// HeaderSigner signs headers of summaries with a peer's key, in libp2p's signed envelopes: domain "venn-summary-header",
// payload type "/venn/summary-header".
func HeaderSigner(key crypto.PrivKey) summary.Sign { return signer(key) }

// VerifyHeader is the [summary.Verify] for what [HeaderSigner] signed: the payload, and the raw peer id of the signer.
func VerifyHeader(envelope []byte) (payload []byte, signer string, err error) {
	return verifyHeader(envelope)
}
