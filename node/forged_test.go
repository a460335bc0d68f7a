package node

import (
	"testing"

	"github.com/venn-p2p/venn/node/signed"
)

// BenchmarkForgedHeader refuses a signed header of about a kibibyte whose signature is wrong. Nothing is cached of it.
func BenchmarkForgedHeader(b *testing.B) {
	o := newOrigin(b, "o", 100)
	h := o.stream.Header()
	for len(h.Shape.Levels) < 64 {
		h.Shape.Levels = append(h.Shape.Levels, h.Shape.Levels[0])
	}
	payload, err := h.AppendBinary(nil)
	if err != nil {
		b.Fatal(err)
	}
	envelope, err := signed.HeaderSigner(o.key)(payload)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := signed.OpenHeader(envelope); err != nil {
		b.Fatal(err)
	}
	envelope[len(envelope)-1] ^= 1
	cache := signed.NewCache(100)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := cache.Header(envelope); err == nil {
			b.Fatal("accepted")
		}
	}
}
