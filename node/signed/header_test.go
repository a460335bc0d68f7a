package signed

import (
	"bytes"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
)

// TestSignedHeader gives every byte of an envelope every other value, and cuts and lengthens it: nothing else verifies.
func TestSignedHeader(t *testing.T) {
	key, public, err := crypto.GenerateEd25519Key(bytes.NewReader(make([]byte, 64)))
	if err != nil {
		t.Fatal(err)
	}
	id, err := peer.IDFromPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := HeaderSigner(key)([]byte("header"))
	if err != nil {
		t.Fatal(err)
	}
	payload, signer, err := VerifyHeader(envelope)
	if err != nil || string(payload) != "header" || signer != string(id) {
		t.Fatalf("payload %q, signer %x, %v", payload, signer, err)
	}
	for i := range envelope {
		for x := 1; x < 256; x++ {
			envelope[i] ^= byte(x)
			if payload, _, err := VerifyHeader(envelope); err == nil {
				t.Errorf("byte %d changed by %#x: accepted, payload %q", i, x, payload)
			}
			envelope[i] ^= byte(x)
		}
	}
	for _, other := range [][]byte{nil, envelope[:len(envelope)-1], append(bytes.Clone(envelope), 0), append(bytes.Clone(envelope), 0x48, 1)} {
		if _, _, err := VerifyHeader(other); err == nil {
			t.Errorf("%d bytes of %d accepted", len(other), len(envelope))
		}
	}
}
