// Package signed signs and opens headers of summaries, and opens peer records. Both are in libp2p's signed envelopes.
//
// It opens no envelope above its limit of bytes, none signed by a key other than Ed25519, secp256k1 or P-256, and none
// of another domain. Opening an envelope costs the verification of a signature, some 0.1 ms. A [Cache] remembers those
// opened.
package signed

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/record"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// ErrSignature means that an envelope was changed after it was signed, or was not signed by the peer that it names.
var ErrSignature = errors.New("signed: not what its signer signed")

// headerRecord is a summary's header as the payload of a libp2p envelope.
type headerRecord struct{ payload []byte }

func (*headerRecord) Domain() string { return "venn-summary-header" }

var headerCodec = []byte("/venn/summary-header")

func (*headerRecord) Codec() []byte                    { return headerCodec }
func (r *headerRecord) MarshalRecord() ([]byte, error) { return r.payload, nil }
func (r *headerRecord) UnmarshalRecord(b []byte) error { r.payload = b; return nil }

// HeaderSigner returns a function that signs headers of summaries with a peer's key, in libp2p's signed envelopes:
// domain "venn-summary-header", payload type "/venn/summary-header".
func HeaderSigner(key crypto.PrivKey) func(payload []byte) (envelope []byte, err error) {
	return func(payload []byte) ([]byte, error) {
		e, err := record.Seal(&headerRecord{payload}, key)
		if err != nil {
			return nil, fmt.Errorf("signed: sign header: %w", err)
		}
		return e.Marshal()
	}
}

// OpenHeader verifies and parses a header that its origin signed. An error matches ErrSignature, or summary.ErrLimit
// for more than [wire.MaxEnvelope] bytes, or an error of summary.ParseHeader.
func OpenHeader(envelope []byte) (summary.Header, error) {
	if len(envelope) > wire.MaxEnvelope {
		return summary.Header{}, fmt.Errorf("signed: header of %d bytes, at most %d: %w", len(envelope), wire.MaxEnvelope, summary.ErrLimit)
	}
	payload, signer, err := verifyHeader(envelope)
	if err != nil {
		return summary.Header{}, err
	}
	h, err := summary.ParseHeader(payload)
	if err != nil {
		return summary.Header{}, err
	}
	if h.Origin != signer {
		return summary.Header{}, fmt.Errorf("%w: header of %x by %x", ErrSignature, h.Origin, signer)
	}
	return h, nil
}

// verifyHeader opens an envelope made by [HeaderSigner]. It returns the payload, and the raw peer id of the signer. An
// error matches ErrSignature.
func verifyHeader(envelope []byte) (payload []byte, signer string, err error) {
	var r headerRecord
	e, err := consume(envelope, &r)
	if err != nil {
		return nil, "", fmt.Errorf("signed: header: %w", err)
	}
	if !bytes.Equal(e.PayloadType, headerCodec) {
		return nil, "", fmt.Errorf("%w: header of type %q", ErrSignature, e.PayloadType)
	}
	if again, err := e.Marshal(); err != nil || !bytes.Equal(again, envelope) { // it may have unsigned fields
		return nil, "", fmt.Errorf("%w: header in an envelope not of the canonical form", ErrSignature)
	}
	id, err := peer.IDFromPublicKey(e.PublicKey)
	if err != nil {
		return nil, "", fmt.Errorf("%w: header: %w", ErrSignature, err)
	}
	return r.payload, string(id), nil
}
