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

func FuzzUnmarshalFilter(f *testing.F) {
	good, _ := filled(f, Params{Blocks: 3, BlockBits: 101, Hashes: 2}, testKeys(20, 1)).MarshalBinary()
	f.Add(good[:len(good)-crcBytes])
	f.Fuzz(func(t *testing.T, data []byte) {
		var g Filter
		_ = g.UnmarshalBinary(data)
		data = appendCRC(bytes.Clone(data), 0) // behind the checksum is where it gets interesting
		err := g.UnmarshalBinary(data)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Errorf("%v is not ErrMalformed", err)
			}
			return
		}
		if again, _ := g.MarshalBinary(); !bytes.Equal(again, data) {
			t.Error("decoding and encoding changes the bytes")
		}
		g.Contains(data)
	})
}
