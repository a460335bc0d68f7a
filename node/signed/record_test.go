package signed

import (
	"bytes"
	"errors"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/record"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/overlay/wire"
)

// TestRecord: a record has the content that was signed, and its signature is that of libp2p's envelope. Nothing else
// verifies.
func TestRecord(t *testing.T) {
	key, id := newKey(t, crypto.Ed25519)
	r := peer.PeerRecord{PeerID: id, Seq: 1 << 60, Addrs: []ma.Multiaddr{
		ma.StringCast("/ip4/192.0.2.1/tcp/4001"), ma.StringCast("/ip4/192.0.2.1/udp/4001/quic-v1"),
	}}
	form := marshalled(t, func() ([]byte, error) { return Sign(&r, key) })
	got, err := OpenRecord(form)
	if err != nil || got.ID != id || got.Seq != r.Seq || len(got.Addrs) != 2 || !got.Addrs[1].Equal(r.Addrs[1]) {
		t.Fatalf("%+v, %v", got, err)
	}
	e, err := record.Seal(&r, key)
	if err != nil {
		t.Fatal(err)
	}
	envelope := marshalled(t, e.Marshal)
	if signature := form[len(form)-64:]; !bytes.HasSuffix(envelope, signature) {
		t.Errorf("libp2p's envelope %x does not end with %x", envelope, signature)
	}
	verifiesAlone(t, form, func(b []byte) error { _, err := OpenRecord(b); return err })
	t.Logf("%d bytes, as libp2p's envelope %d", len(form), len(envelope))
}

// A record says whose it is, for keys of all supported types. What is no record says nothing.
func TestSigner(t *testing.T) {
	for _, kind := range []int{crypto.Ed25519, crypto.Secp256k1, crypto.ECDSA} {
		key, id := newKey(t, kind)
		if got := wire.RecordOf(recordOf(t, key, "/ip4/192.0.2.1/tcp/4001")).Peer; got != wire.PeerID(id) {
			t.Errorf("key of type %d: a record of %q says that it is of %q", kind, id, got)
		}
	}
	for _, b := range [][]byte{nil, {1}, {0}, []byte("no record")} {
		if got := wire.RecordOf(b).Peer; got != "" {
			t.Errorf("%q says that it is of %q", b, got)
		}
		if _, err := OpenRecord(b); !errors.Is(err, ErrSignature) {
			t.Errorf("%q: %v", b, err)
		}
	}
}

// FuzzOpenRecord: no bytes are a record by chance, and none make OpenRecord panic.
func FuzzOpenRecord(f *testing.F) {
	key, _, err := crypto.GenerateEd25519Key(zeros{})
	if err != nil {
		f.Fatal(err)
	}
	id, _ := peer.IDFromPrivateKey(key)
	form, err := Sign(&peer.PeerRecord{PeerID: id, Seq: 1, Addrs: []ma.Multiaddr{ma.StringCast("/ip4/192.0.2.1/tcp/4001")}}, key)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(form)
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := OpenRecord(b); err == nil && !bytes.Equal(b, form) {
			t.Fatalf("a record of %s by chance", r.ID)
		}
	})
}

// zeros is a source of zeros.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }
