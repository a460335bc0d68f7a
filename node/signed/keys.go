package signed

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"

	"github.com/libp2p/go-libp2p/core/crypto"
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

// verify returns ErrSignature unless a key of a supported kind, in libp2p's protocol buffer, has signed a message.
func verify(key, message, signature []byte) error {
	k, err := crypto.UnmarshalPublicKey(key)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSignature, err)
	}
	if canonical, err := crypto.MarshalPublicKey(k); err != nil || !bytes.Equal(canonical, key) {
		return fmt.Errorf("%w: a key not of the canonical form", ErrSignature)
	}
	return Verify(k, message, signature)
}

// Verify returns ErrSignature unless a key of a supported kind has signed a message. Of a key of another kind, the error
// is ErrKey, too.
func Verify(key crypto.PubKey, message, signature []byte) error {
	if err := CheckKey(key); err != nil {
		return fmt.Errorf("%w: %w", ErrSignature, err)
	}
	if ok, err := key.Verify(message, signature); err != nil || !ok || key.Type() == crypto.ECDSA && !exact(signature) {
		return fmt.Errorf("%w: another signature", ErrSignature)
	}
	return nil
}

// exact reports whether a signature by an ECDSA key has its two numbers and nothing else. libp2p skips what follows them,
// so that anybody could write what others signed in ever more forms.
func exact(signature []byte) bool {
	var s struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(signature, &s); err != nil {
		return false
	}
	again, err := asn1.Marshal(s)
	return err == nil && bytes.Equal(again, signature)
}

// sign returns the public key of a private one, in libp2p's protocol buffer, and its signature of a message.
func sign(key crypto.PrivKey, message []byte) (public, signature []byte, err error) {
	if public, err = crypto.MarshalPublicKey(key.GetPublic()); err == nil {
		signature, err = key.Sign(message)
	}
	return public, signature, err
}
