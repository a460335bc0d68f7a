package signed

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// TestOpenHeader: a header counts when its origin has signed it, and nobody else.
func TestOpenHeader(t *testing.T) {
	key, id := newKey(t, crypto.Ed25519)
	other, _ := newKey(t, crypto.Ed25519)
	p, payload := headerOf(t, id)
	forged := headerBy(t, key, payload)
	forged[len(forged)-1] ^= 1
	for _, c := range []struct {
		name     string
		envelope []byte
		want     error
	}{
		{"as it should be", headerBy(t, key, payload), nil},
		{"signed by another", headerBy(t, other, payload), ErrSignature},
		{"signed by nobody", forged, ErrSignature},
		{"too long", make([]byte, wire.MaxEnvelope+1), summary.ErrLimit},
		{"something behind it", headerBy(t, key, append(bytes.Clone(payload), 0)), summary.ErrMalformed},
		{"of another version", headerBy(t, key, append([]byte{payload[0] + 1}, payload[1:]...)), summary.ErrVersion},
	} {
		h, err := OpenHeader(c.envelope)
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) || err == nil && h.Chain != p.Header().Chain {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// headerOf returns a summary of a peer, and its header as the peer signs it.
func headerOf(t *testing.T, id peer.ID) (p *summary.Prefix, payload []byte) {
	t.Helper()
	p, err := summary.Build([]summary.Fingerprint{1, 2, 3}, summary.Header{Origin: string(id), Lifetime: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return p, marshalled(t, func() ([]byte, error) { return p.Header().AppendBinary(nil) })
}

// TestSignedHeader gives every byte of an envelope every other value, and cuts and lengthens it: nothing else verifies.
func TestSignedHeader(t *testing.T) {
	key, id := newKey(t, crypto.Ed25519)
	envelope := headerBy(t, key, []byte("header"))
	payload, signer, err := verifyHeader(envelope)
	if err != nil || string(payload) != "header" || signer != string(id) {
		t.Fatalf("payload %q, signer %x, %v", payload, signer, err)
	}
	for i := range envelope {
		for x := 1; x < 256; x++ {
			envelope[i] ^= byte(x)
			if payload, _, err := verifyHeader(envelope); err == nil {
				t.Errorf("byte %d changed by %#x: accepted, payload %q", i, x, payload)
			}
			envelope[i] ^= byte(x)
		}
	}
	for _, other := range [][]byte{nil, envelope[:len(envelope)-1], append(bytes.Clone(envelope), 0), append(bytes.Clone(envelope), 0x48, 1)} {
		if _, _, err := verifyHeader(other); err == nil {
			t.Errorf("%d bytes of %d accepted", len(other), len(envelope))
		}
	}
}

// TestFileHeader opens an envelope with package summary alone, which knows no libp2p.
func TestFileHeader(t *testing.T) {
	for _, kind := range []int{crypto.Ed25519, crypto.Secp256k1} {
		key, id := newKey(t, kind)
		p, payload := headerOf(t, id)
		h, err := summary.File{Envelope: headerBy(t, key, payload)}.Header()
		if kind == crypto.Ed25519 && (err != nil || h.Origin != string(id) || h.Chain != p.Header().Chain) {
			t.Errorf("%+v, %v", h, err)
		}
		if kind != crypto.Ed25519 && !errors.Is(err, summary.ErrSignature) {
			t.Errorf("another kind of key: %v", err)
		}
	}
}
