package signed

import (
	"errors"
	"slices"
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
	other, otherID := newKey(t, crypto.Ed25519)
	p, payload := headerOf(t, id)
	forged := headerBy(t, key, payload)
	forged[len(forged)-1] ^= 1
	_, theirs := headerOf(t, otherID)
	another, later := headerBy(t, other, theirs), headerBy(t, key, payload)
	later[37]++
	for _, c := range []struct {
		name     string
		envelope []byte
		want     error
	}{
		{"as it should be", headerBy(t, key, payload), nil},
		{"by the key of another", slices.Concat(another[:37], headerBy(t, key, payload)[37:]), ErrSignature},
		{"signed by nobody", forged, ErrSignature},
		{"too long", make([]byte, wire.MaxEnvelope+1), summary.ErrLimit},
		{"cut short", headerBy(t, key, payload)[:100], summary.ErrMalformed},
		{"of another version", later, summary.ErrVersion},
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

// TestSignedHeader gives every byte of a signed header every other value, and cuts and lengthens it: nothing else
// verifies.
func TestSignedHeader(t *testing.T) {
	key, id := newKey(t, crypto.Ed25519)
	_, payload := headerOf(t, id)
	verifiesAlone(t, headerBy(t, key, payload), func(b []byte) error { _, err := OpenHeader(b); return err })
}

// verifiesAlone checks that open accepts a signed form, and none that differs from it in a byte or a length.
func verifiesAlone(t *testing.T, form []byte, open func([]byte) error) {
	t.Helper()
	if err := open(form); err != nil {
		t.Fatal(err)
	}
	for i := range form {
		for x := 1; x < 256; x++ {
			form[i] ^= byte(x)
			if open(form) == nil {
				t.Errorf("byte %d changed by %#x: accepted", i, x)
			}
			form[i] ^= byte(x)
		}
	}
	for n := range form {
		if open(form[:n]) == nil {
			t.Errorf("%d bytes of %d accepted", n, len(form))
		}
	}
	for _, more := range [][]byte{{0}, {0x48, 1}} {
		if open(slices.Concat(form, more)) == nil {
			t.Errorf("%x behind it: accepted", more)
		}
	}
}

// TestSigns: a key signs only headers of its own peer.
func TestSigns(t *testing.T) {
	key, _ := newKey(t, crypto.Ed25519)
	_, id := newKey(t, crypto.Ed25519)
	_, payload := headerOf(t, id)
	if _, err := HeaderSigner(key)(payload); !errors.Is(err, summary.ErrSignature) {
		t.Error(err)
	}
}

// TestFileHeader opens a signed header with package summary alone, which knows no libp2p.
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
