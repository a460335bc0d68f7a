package signed

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"errors"
	"fmt"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/record"
)

// ErrKey means that a key is of an unsupported kind. Some of these kinds take fifty times as long to verify.
var ErrKey = errors.New("signed: not an Ed25519, secp256k1 or P-256 key")

// CheckKey returns ErrKey unless a public key is Ed25519, secp256k1, or ECDSA on P-256.
func CheckKey(key crypto.PubKey) error {
	switch key.Type() {
	case crypto.Ed25519, crypto.Secp256k1:
		return nil
	case crypto.ECDSA:
		if k, err := crypto.PubKeyToStdKey(key); err == nil {
			if e, ok := k.(*ecdsa.PublicKey); ok && e.Curve == elliptic.P256() {
				return nil
			}
		}
	}
	return ErrKey
}

// consume verifies an envelope whose key is of a supported kind, and decodes the record in it. Errors match
// ErrSignature.
func consume(envelope []byte, into record.Record) (*record.Envelope, error) {
	e, err := record.UnmarshalEnvelope(envelope)
	if err == nil {
		err = CheckKey(e.PublicKey)
	}
	if err == nil {
		e, err = record.ConsumeTypedEnvelope(envelope, into)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	return e, nil
}
