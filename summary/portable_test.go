package summary

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"testing"
)

// TestGoldenShapes holds the bytes of shapes whose plans do not fit into 32 bits to those that 64-bit machines write.
// It runs on both.
func TestGoldenShapes(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("# n fingerprints of streams.golden's generator: keys sampleBytes sampleLevel [levels]; parts, their bytes, SHA-256 of\n")
	b.WriteString("# all, h_0, all parts without the first of every hundred given these: their bytes and SHA-256; overlap of both\n")
	for _, c := range []struct {
		n     int
		shape Shape
	}{
		{100_000, Shape{SampleBytes: maxSampleBytes, SampleLevel: 23, Levels: []uint8{28}}},
		{5_000, Shape{Levels: []uint8{40}}},
		{5_000, Shape{SampleBytes: 1 << 10, SampleLevel: 19, Levels: []uint8{45, 40}}},
		{100_000, Shape{SampleBytes: maxSampleBytes, SampleLevel: 25, Levels: []uint8{48, 30}}},
	} {
		old, next := fewerEpochs(t, c.n, c.shape)
		r := related(t, next, next.Parts(), old)
		d := r.Bytes
		again, err := next.Truncate(0).ExtendRelative(old, r)
		if err != nil || !bytes.Equal(bytes.Join(again.parts, nil), bytes.Join(next.parts, nil)) {
			t.Fatalf("relative run of shape %v: %v", c.shape, err)
		}
		o := must(EstimateOverlap(old, next, .95))
		h, all := old.Header(), bytes.Join(old.parts, nil)
		fmt.Fprintf(&b, "%d: %d %d %d %v; %d %d %x %x %d %x %.1f\n", c.n, h.Shape.Keys, h.Shape.SampleBytes, h.Shape.SampleLevel,
			h.Shape.Levels, old.Parts(), len(all), sha256.Sum256(all), h.Chain, len(d), sha256.Sum256(d), o.Intersection.Value)
	}
	golden(t, "testdata/shapes.golden", b.Bytes())
}
