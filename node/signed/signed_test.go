package signed

import (
	"crypto/rand"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

// newKey returns a key of a kind, and the id of its peer.
func newKey(t *testing.T, kind int) (crypto.PrivKey, peer.ID) {
	t.Helper()
	key, _, err := crypto.GenerateKeyPairWithReader(kind, 2048, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key, idOf(t, key)
}

func idOf(t *testing.T, key crypto.PrivKey) peer.ID {
	t.Helper()
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// recordOf returns the signed PeerRecord of a key's peer at some addresses.
func recordOf(t *testing.T, key crypto.PrivKey, addrs ...string) []byte {
	t.Helper()
	r := peer.PeerRecord{PeerID: idOf(t, key), Seq: 1}
	for _, a := range addrs {
		r.Addrs = append(r.Addrs, ma.StringCast(a))
	}
	return marshalled(t, func() ([]byte, error) { return Sign(&r, key) })
}

// marshalled returns bytes that something is written as.
func marshalled(t *testing.T, marshal func() ([]byte, error)) []byte {
	t.Helper()
	b, err := marshal()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// headerBy returns a payload signed as a header by a key.
func headerBy(t *testing.T, key crypto.PrivKey, payload []byte) []byte {
	t.Helper()
	return marshalled(t, func() ([]byte, error) { return HeaderSigner(key)(payload) })
}
