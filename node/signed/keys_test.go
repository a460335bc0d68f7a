package signed

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
)

// TestKinds: records and headers signed by keys that are dear to verify are refused, before they are verified. A
// signature with more bytes counts for no key.
func TestKinds(t *testing.T) {
	curve := func(c elliptic.Curve) crypto.PrivKey {
		k, err := ecdsa.GenerateKey(c, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		key, _, err := crypto.ECDSAKeyPairFromKey(k)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	of := func(kind int) crypto.PrivKey { key, _ := newKey(t, kind); return key }
	for name, k := range map[string]struct {
		key  crypto.PrivKey
		fine bool
	}{
		"Ed25519": {of(crypto.Ed25519), true}, "secp256k1": {of(crypto.Secp256k1), true}, "P-256": {curve(elliptic.P256()), true},
		"P-384": {curve(elliptic.P384()), false}, "P-521": {curve(elliptic.P521()), false}, "RSA": {of(crypto.RSA), false},
	} {
		public, err := crypto.MarshalPublicKey(k.key.GetPublic())
		if err != nil {
			t.Fatal(err)
		}
		signature, err := k.key.Sign([]byte("message"))
		if err != nil {
			t.Fatal(err)
		}
		err = verify(public, []byte("message"), signature)
		if (err == nil) != k.fine || !k.fine && (!errors.Is(err, ErrKey) || !errors.Is(err, ErrSignature)) {
			t.Errorf("signed by %s: %v", name, err)
		}
		within := slices.Concat(signature, []byte{2, 1, 1}) // in the sequence of an ECDSA signature
		within[1] += 3
		for _, more := range [][]byte{slices.Concat(signature, []byte{0}), within} {
			if verify(public, []byte("message"), more) == nil {
				t.Errorf("%s: a signature with more bytes counts", name)
			}
		}
	}
}
