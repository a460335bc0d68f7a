package bloom

import (
	"bytes"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the goldens in testdata anew")

// golden compares with, or rewrites, a file in testdata.
func golden(t *testing.T, name string, got []byte) []byte {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := must(os.ReadFile(path))
	if !bytes.Equal(got, want) {
		t.Errorf("%s: bytes differ from the golden: got %x", name, got)
	}
	return want
}

func TestBinaryGolden(t *testing.T) {
	f := filled(t, Params{Blocks: 3, BlockBits: 101, Hashes: 2, Hasher: Hasher{1, 2}}, testKeys(20, 1))
	b := must(f.MarshalBinary())
	if len(b) != cap(b) {
		t.Errorf("%d bytes in memory of %d", len(b), cap(b))
	}
	var g Filter
	if err := g.UnmarshalBinary(golden(t, "filter.golden", b)); err != nil || !g.Equal(f) {
		t.Errorf("golden doesn't decode to the filter: %v", err)
	}
}

// Every changed byte and every length is refused, and the receiver stays as it was.
func TestBinaryCorrupt(t *testing.T) {
	f := filled(t, Params{Blocks: 3, BlockBits: 101, Hashes: 2}, testKeys(20, 1))
	good, _ := f.MarshalBinary()
	receiver := filled(t, Params{Blocks: 1, BlockBits: 10, Hashes: 1}, testKeys(2, 1))
	before := receiver.Clone()
	refuse := func(b []byte) {
		t.Helper()
		if err := receiver.UnmarshalBinary(b); !errors.Is(err, ErrMalformed) {
			t.Errorf("UnmarshalBinary: %v", err)
		}
		if !receiver.Equal(before) {
			t.Fatal("the receiver changed")
		}
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1 << (i % 8)
		refuse(bad)
		refuse(good[:i])
	}
	if err := receiver.UnmarshalBinary(append(bytes.Clone(good), 0)); !errors.Is(err, ErrMalformed) {
		t.Errorf("a byte too many: %v", err)
	}
	bad := bytes.Clone(good) // a bit past the end, with the right checksum
	bad[len(bad)-crcBytes-1] |= 0x80
	bad = appendCRC(bad[:len(bad)-crcBytes], 0)
	refuse(bad)
}

// A header may claim 8 GiB: it takes no more memory than its bytes.
func TestUnmarshalAllocatesWhatIsThere(t *testing.T) {
	p := Params{Blocks: 1, BlockBits: min(maxBits, math.MaxInt), Hashes: 1}
	data := appendCRC(append(appendHead(nil, p), make([]byte, 1000)...), 0)
	var f Filter
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const times = 10
	for range times {
		if err := f.UnmarshalBinary(data); !errors.Is(err, ErrMalformed) {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / times; got > 1<<14 {
		t.Errorf("%d bytes allocated for %d", got, len(data))
	}
}

// FuzzUnmarshal holds all that reads foreign bytes to accepting only what its writer writes, and to its errors. It tries
// the bytes as they are, and with a checksum, behind which it gets interesting.
func FuzzUnmarshal(f *testing.F) {
	codec := must(NewCodec(codecTypes()...))
	base, next := filled(f, codecTypes()[1], testKeys(100, 1)), filled(f, codecTypes()[1], testKeys(105, 1))
	for _, delta := range []*Filter{nil, base} {
		f.Add(must(codec.Append(nil, next, delta)))
	}
	blocked := must(NewBlocked(512, 3, Hasher{}))
	blocked.Add([]byte("x"))
	f.Add(must(blocked.MarshalBinary()))
	for _, good := range [][]byte{
		must(filled(f, Params{Blocks: 3, BlockBits: 101, Hashes: 2}, testKeys(20, 1)).MarshalBinary()), smallDynamic(f, testKeys(100, 1)).written(f),
	} {
		f.Add(good[:len(good)-crcBytes])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, data := range [][]byte{data, appendCRC(bytes.Clone(data), 0)} {
			var g Filter
			err := g.UnmarshalBinary(data)
			if writesBack(t, data, err, g.MarshalBinary) {
				g.Contains(data)
			}
			if v, viewed := OpenView(data); (viewed == nil) != (err == nil) || err == nil && !v.Equal(&g) {
				t.Fatalf("a view: %v, a filter: %v", viewed, err)
			}
			var b Blocked
			if !writesBack(t, data, b.UnmarshalBinary(data), b.MarshalBinary) && b.lines != nil {
				t.Error("the receiver changed")
			}
			var d Dynamic
			if writesBack(t, data, d.UnmarshalBinary(data), d.MarshalBinary) {
				d.Contains(data)
				if d.params.Batch.Bits() < 1<<20 { // a batch of the claimed length may follow
					d.Add(data)
				}
			}
			for _, base := range []*Filter{nil, base} {
				g, err := codec.Decode(data, base)
				if errors.Is(err, ErrMismatch) {
					continue
				}
				if writesBack(t, data, err, func() ([]byte, error) { return codec.Append(nil, g, base) }) {
					break // as a delta it has another base
				}
			}
		}
	})
}

// writesBack reports whether bytes were accepted. It fails if they are not what write returns, or were refused by another
// error than ErrMalformed.
func writesBack(t *testing.T, data []byte, err error, write func() ([]byte, error)) bool {
	t.Helper()
	if err != nil {
		if !errors.Is(err, ErrMalformed) {
			t.Errorf("%v is not ErrMalformed", err)
		}
		return false
	}
	if again := must(write()); !bytes.Equal(again, data) {
		t.Errorf("%x is written as %x", data, again)
	}
	return true
}
