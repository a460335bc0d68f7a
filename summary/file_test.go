package summary

import (
	"bytes"
	"errors"
	"math"
	"testing"
)

func someFile(t testing.TB, n, parts int) (File, *Prefix) {
	t.Helper()
	p := mustBuild(t, someKeys(1, n), Shape{}).Prefix()
	r, err := p.Run(0, min(parts, p.Parts()))
	if err != nil {
		t.Fatal(err)
	}
	return File{Envelope: mustAppend(t, p.Header()), Run: r}, p
}

func TestFileSizes(t *testing.T) {
	for _, n := range []int{0, 10, 3000, 200_000} {
		f, p := someFile(t, n, MaxParts)
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
			if got := len(File{f.Envelope, r}.AppendBinary(nil)); got != size {
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
	}{{nil, ErrFile}, {[]byte("venn"), ErrFile}, {[]byte("%PDF-1.4"), ErrFile}, {[]byte("vennX\x01"), ErrFile}, {d, ErrFile}, {later, ErrVersion}, {b[:20], ErrMalformed}} {
		if _, err := ParseFile(c.b); !errors.Is(err, c.want) {
			t.Errorf("%q: %v, not %v", c.b, err, c.want)
		}
	}
	if _, err := ParseDelta(b); !errors.Is(err, ErrFile) {
		t.Error("a summary taken for a delta:", err)
	}
	if kind, err := KindOf(d); kind != DeltaFile || err != nil {
		t.Error(kind, err)
	}
	part1 := f
	part1.Run = Run{First: 1, Parts: f.Run.Parts[1:], Next: f.Run.Next}
	if _, err := ParseFile(part1.AppendBinary(nil)); !errors.Is(err, ErrMalformed) {
		t.Error("a file from part 1 on:", err)
	}
}

// FuzzParseFile: whatever is accepted is canonical.
func FuzzParseFile(f *testing.F) {
	for _, n := range []int{0, 10, 2000} {
		file, _ := someFile(f, n, 3)
		f.Add(file.AppendBinary(nil))
	}
	f.Add(Delta{[]byte("envelope"), []byte("changes")}.AppendBinary(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		kind, kindErr := KindOf(b)
		file, err := ParseFile(b)
		if err == nil && (kind != SummaryFile || !bytes.Equal(file.AppendBinary(nil), b)) {
			t.Fatalf("%x became %x", b, file.AppendBinary(nil))
		}
		d, deltaErr := ParseDelta(b)
		if deltaErr == nil && (kind != DeltaFile || !bytes.Equal(d.AppendBinary(nil), b)) {
			t.Fatalf("%x became %x", b, d.AppendBinary(nil))
		}
		if kindErr != nil && (err == nil || deltaErr == nil) {
			t.Fatal("parsed a file of no kind")
		}
	})
}

// TestPrefixEntropy compares with the sum over the nodes of the deepest levels, counted from the keys.
func TestPrefixEntropy(t *testing.T) {
	keys := someKeys(3, 5000)
	for _, s := range []Shape{{}, {Levels: []uint8{20, 14, 13}}} {
		p := mustBuild(t, keys, s).Prefix()
		want := 0.0
		for block, level := range p.Header().Shape.Levels {
			nodes := map[uint64]bool{}
			for _, f := range keys {
				nodes[position(f, block)>>(64-level)] = true
			}
			m := math.Ldexp(1, int(level))
			q := float64(len(nodes)) / m
			want += m * (-q*math.Log2(q) - (1-q)*math.Log2(1-q))
		}
		if got := p.Entropy(); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%v: entropy %v, not %v", s, got, want)
		}
		last := 0.0
		for k := range p.Parts() {
			if got := p.Truncate(k + 1).Entropy(); got <= last {
				t.Fatalf("part %d: entropy %v after %v", k, got, last)
			} else {
				last = got
			}
		}
	}
}
