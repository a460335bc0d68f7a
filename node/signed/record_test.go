package signed

import (
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/venn-p2p/venn/overlay/wire"
)

// A record says whose it is, for keys of every type. What is no record says nothing.
func TestSigner(t *testing.T) {
	for _, kind := range []int{crypto.Ed25519, crypto.Secp256k1, crypto.ECDSA, crypto.RSA} {
		key, id := newKey(t, kind)
		if got := Signer(recordOf(t, key, "/ip4/192.0.2.1/tcp/4001")); got != wire.PeerID(id) {
			t.Errorf("key of type %d: a record of %q says that it is of %q", kind, id, got)
		}
	}
	for _, b := range [][]byte{nil, {1}, []byte("no record")} {
		if got := Signer(b); got != "" {
			t.Errorf("%q says that it is of %q", b, got)
		}
	}
}
