package summary

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"testing"
)

// someFile has the first parts of a summary, under a header without a signature.
func someFile(t testing.TB, n, parts int) (File, *Prefix) {
	t.Helper()
	p := mustBuild(t, someKeys(1, n), Shape{})
	return File{Envelope: must(p.Header().AppendBinary(nil)), Run: must(p.Run(0, min(parts, p.Parts())))}, p
}

func TestFileKinds(t *testing.T) {
	f, _ := someFile(t, 100, 2)
	b := f.AppendBinary(nil)
	d := File{Envelope: f.Envelope, Delta: []byte("changes")}.AppendBinary(nil)
	later := bytes.Clone(b)
	later[5]++
	for _, c := range []struct {
		b    []byte
		want error
	}{{nil, ErrKind}, {[]byte("venn"), ErrKind}, {[]byte("%PDF-1.4"), ErrKind}, {[]byte("vennX\x01"), ErrKind}, {later, ErrVersion}, {b[:20], ErrMalformed}} {
		if _, err := ParseFile(c.b); !errors.Is(err, c.want) {
			t.Errorf("%q: %v, not %v", c.b, err, c.want)
		}
	}
	if got, err := ParseFile(d); err != nil || string(got.Delta) != "changes" || !bytes.Equal(got.Envelope, f.Envelope) {
		t.Errorf("a delta: %+v, %v", got, err)
	}
	if got, err := ParseFile(File{Delta: []byte{}}.AppendBinary(nil)); err != nil || got.Delta == nil {
		t.Errorf("a delta of no bytes: %+v, %v", got, err)
	}
	part1 := f
	part1.Run = Run{First: 1, Parts: f.Run.Parts[1:], Next: f.Run.Next}
	if _, err := ParseFile(part1.AppendBinary(nil)); !errors.Is(err, ErrMalformed) {
		t.Error("a file from part 1 on:", err)
	}
}

// seal signs a header with an Ed25519 key.
func seal(t testing.TB, key ed25519.PrivateKey, h Header) []byte {
	t.Helper()
	return must(h.Sign(signer(key)))
}

// signer signs with an Ed25519 key.
func signer(key ed25519.PrivateKey) func([]byte) (public, signature []byte, err error) {
	return func(message []byte) ([]byte, []byte, error) {
		return append([]byte(keyType), key.Public().(ed25519.PublicKey)...), ed25519.Sign(key, message), nil
	}
}

// TestFileHeader verifies a signed header, and refuses it with any byte changed, cut or added, or of another origin.
func TestFileHeader(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	_, p := someFile(t, 100, 2)
	h := p.Header()
	h.Origin = "\x00\x24" + keyType + string(key.Public().(ed25519.PublicKey))
	good := seal(t, key, h)
	if got, err := (File{Envelope: good}).Header(); err != nil || got.Origin != h.Origin || got.Chain != h.Chain {
		t.Fatalf("%+v, %v", got, err)
	}
	refusesChanges(t, good, func(b []byte) bool {
		_, err := File{Envelope: b}.Header()
		return err == nil
	})
	h.Origin = "another"
	if _, err := h.Sign(signer(key)); !errors.Is(err, ErrSignature) {
		t.Error("another origin:", err)
	}
}
