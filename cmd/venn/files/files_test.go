package files

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/venn-p2p/venn/summary"
)

func someFile(t testing.TB, n, parts int) (Summary, *summary.Prefix) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	fps := make([]summary.Fingerprint, n)
	for i := range fps {
		fps[i] = summary.Fingerprint(rng.Uint64() >> (64 - summary.FingerprintBits))
	}
	st, err := summary.Build(fps, summary.Header{Origin: "origin", Epoch: summary.Epoch{Generation: 1}})
	if err != nil {
		t.Fatal(err)
	}
	p := st
	r, err := p.Run(0, min(parts, p.Parts()))
	if err != nil {
		t.Fatal(err)
	}
	envelope, err := p.Header().AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	return Summary{Envelope: envelope, Run: r}, p
}

func TestFileSizes(t *testing.T) {
	for _, n := range []int{0, 10, 3000, 200_000} {
		f, p := someFile(t, n, math.MaxInt)
		sizes := f.Sizes()
		if len(sizes) != p.Parts()+1 {
			t.Fatalf("%d sizes of %d parts", len(sizes), p.Parts())
		}
		b := f.AppendBinary(nil)
		for k, at := range f.Offsets() {
			if part := f.Run.Parts[k]; !bytes.Equal(b[at:at+len(part)], part) {
				t.Errorf("n %d: part %d is not at %d", n, k, at)
			}
		}
		for k, size := range sizes {
			r, _ := p.Run(0, k)
			if got := len(Summary{f.Envelope, r}.AppendBinary(nil)); got != size {
				t.Errorf("n %d, %d parts: %d bytes, Sizes says %d", n, k, got, size)
			}
		}
	}
}

func TestFileKinds(t *testing.T) {
	f, _ := someFile(t, 100, 2)
	b := f.AppendBinary(nil)
	d := Delta{f.Envelope, []byte("changes")}.AppendBinary(nil)
	later := bytes.Clone(b)
	later[5]++
	for _, c := range []struct {
		b    []byte
		want error
	}{{nil, ErrKind}, {[]byte("venn"), ErrKind}, {[]byte("%PDF-1.4"), ErrKind}, {[]byte("vennX\x01"), ErrKind}, {d, ErrKind}, {later, summary.ErrVersion}, {b[:20], summary.ErrMalformed}} {
		if _, err := Parse(c.b); !errors.Is(err, c.want) {
			t.Errorf("%q: %v, not %v", c.b, err, c.want)
		}
	}
	if _, err := ParseDelta(b); !errors.Is(err, ErrKind) {
		t.Error("a summary taken for a delta:", err)
	}
	if kind, err := KindOf(d); kind != DeltaKind || err != nil {
		t.Error(kind, err)
	}
	part1 := f
	part1.Run = summary.Run{First: 1, Parts: f.Run.Parts[1:], Next: f.Run.Next}
	if _, err := Parse(part1.AppendBinary(nil)); !errors.Is(err, summary.ErrMalformed) {
		t.Error("a file from part 1 on:", err)
	}
}

// FuzzParse: whatever is accepted is canonical.
func FuzzParse(f *testing.F) {
	for _, n := range []int{0, 10, 2000} {
		file, _ := someFile(f, n, 3)
		f.Add(file.AppendBinary(nil))
	}
	f.Add(Delta{[]byte("envelope"), []byte("changes")}.AppendBinary(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		kind, kindErr := KindOf(b)
		file, err := Parse(b)
		if err == nil && (kind != SummaryKind || !bytes.Equal(file.AppendBinary(nil), b)) {
			t.Fatalf("%x became %x", b, file.AppendBinary(nil))
		}
		d, deltaErr := ParseDelta(b)
		if deltaErr == nil && (kind != DeltaKind || !bytes.Equal(d.AppendBinary(nil), b)) {
			t.Fatalf("%x became %x", b, d.AppendBinary(nil))
		}
		if kindErr != nil && (err == nil || deltaErr == nil) {
			t.Fatal("parsed a file of no kind")
		}
	})
}
