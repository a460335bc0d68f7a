// Package signed signs and opens headers of summaries and peer records. Each has one form in messages, in memory and at
// rest, which begins with the signer's key. A peer record is libp2p's: its signature is good for libp2p's envelope.
//
// It opens no form above its limit of bytes, none signed by a key other than Ed25519, secp256k1 or P-256, and none of
// another domain. Opening one costs the verification of a signature, some 0.1 ms. A [Cache] remembers those opened.
package signed

import (
	"errors"
	"fmt"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// ErrSignature means that an envelope was changed after it was signed, or was not signed by the peer that it names.
var ErrSignature = errors.New("signed: not what its signer signed")

// HeaderSigner returns a function that signs headers of summaries with a peer's key. The function takes a header as
// [summary.Header.AppendBinary] writes it, and returns its signed form.
func HeaderSigner(key crypto.PrivKey) func(header []byte) (signed []byte, err error) {
	return func(header []byte) ([]byte, error) {
		h, err := summary.ParseHeader(header)
		if err != nil {
			return nil, fmt.Errorf("signed: sign header: %w", err)
		}
		return h.Sign(func(message []byte) (public, signature []byte, err error) { return sign(key, message) })
	}
}

// OpenHeader verifies and parses a header that its origin signed. An error matches ErrSignature, or summary.ErrLimit
// for more than [wire.MaxEnvelope] bytes, or an error of summary.ParseHeader.
func OpenHeader(envelope []byte) (summary.Header, error) {
	if len(envelope) > wire.MaxEnvelope {
		return summary.Header{}, fmt.Errorf("signed: header of %d bytes, at most %d: %w", len(envelope), wire.MaxEnvelope, summary.ErrLimit)
	}
	h, key, message, signature, err := summary.ParseSigned(envelope)
	if errors.Is(err, summary.ErrSignature) {
		return summary.Header{}, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	if err != nil {
		return summary.Header{}, err
	}
	if err := verify(key, message, signature); err != nil {
		return summary.Header{}, fmt.Errorf("signed: header: %w", err)
	}
	return h, nil
}
