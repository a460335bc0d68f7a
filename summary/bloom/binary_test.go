package bloom

import (
	"bytes"
	"encoding"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/iotest"
)

var (
	_ encoding.BinaryMarshaler   = (*Filter)(nil)
	_ encoding.BinaryUnmarshaler = (*Filter)(nil)
	_ io.WriterTo                = (*Filter)(nil)
	_ io.ReaderFrom              = (*Filter)(nil)
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
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: bytes differ from the golden: got %x", name, got)
	}
	return want
}

func TestBinaryGolden(t *testing.T) {
	f := filled(t, Params{Blocks: 3, BlockBits: 101, Hashes: 2, Seed: Seed{1, 2}}, testKeys(20, 1))
	b, err := f.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var g Filter
	if err := g.UnmarshalBinary(golden(t, "filter.golden", b)); err != nil || !g.Equal(f) {
		t.Errorf("golden doesn't decode to the filter: %v", err)
	}
}

func TestBinaryRoundTrip(t *testing.T) {
	all := someParams()
	all = append(all, Params{Blocks: 9, BlockBits: 100_003, Hashes: 1}) // several pieces
	for _, p := range all {
		f := filled(t, p, testKeys(20, 1))
		b, err := f.appendBinary([]byte("before"))
		if err != nil || string(b[:6]) != "before" {
			t.Fatal(err)
		}
		b = b[6:]
		if len(b) != f.encodedBytes() {
			t.Errorf("%+v: %d bytes, BinarySize %d", p, len(b), f.encodedBytes())
		}
		var out bytes.Buffer
		n, err := f.WriteTo(&out)
		if err != nil || n != int64(len(b)) || !bytes.Equal(out.Bytes(), b) {
			t.Errorf("%+v: WriteTo: %d, %v", p, n, err)
		}
		var g, h Filter
		if err := g.UnmarshalBinary(b); err != nil || !g.Equal(f) {
			t.Errorf("%+v: UnmarshalBinary: %v", p, err)
		}
		in := bytes.NewReader(append(b, "after"...))
		if n, err := h.ReadFrom(iotest.HalfReader(in)); err != nil || n != int64(len(b)) || !h.Equal(f) || in.Len() != 5 {
			t.Errorf("%+v: ReadFrom: %d, %v, %d left", p, n, err, in.Len())
		}
		g.Add([]byte("decoded filters work"))
		if !g.Contains([]byte("decoded filters work")) {
			t.Errorf("%+v: a decoded filter forgets", p)
		}
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
		_, err := receiver.ReadFrom(bytes.NewReader(b))
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, ErrMalformed) {
			t.Errorf("ReadFrom: %v", err)
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

// A header may claim 8 GiB; a stream that ends takes no more memory than it brought.
func TestReadFromAllocatesWhatArrives(t *testing.T) {
	p := Params{Blocks: 1, BlockBits: min(maxBits, math.MaxInt), Hashes: 1}
	stream := append(appendParams([]byte(filterMagic), p), make([]byte, 1000)...)
	var f Filter
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const times = 10
	for range times {
		if _, err := f.ReadFrom(bytes.NewReader(stream)); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / times; got > 1<<18 {
		t.Errorf("%d bytes allocated for a stream of %d", got, len(stream))
	}
}

func TestWriteToReportsErrors(t *testing.T) {
	f := mustNew(t, Params{Blocks: 1, BlockBits: 1 << 20, Hashes: 1})
	for _, after := range []int64{0, 40, 70_000, int64(f.encodedBytes()) - 1} {
		if n, err := f.WriteTo(&fullDisk{left: after}); !errors.Is(err, errFull) || n != after {
			t.Errorf("a disk full after %d: wrote %d, %v", after, n, err)
		}
	}
}

var errFull = errors.New("full")

type fullDisk struct{ left int64 }

func (d *fullDisk) Write(b []byte) (int, error) {
	n := min(int64(len(b)), d.left)
	d.left -= n
	if n < int64(len(b)) {
		return int(n), errFull
	}
	return int(n), nil
}

func FuzzUnmarshalFilter(f *testing.F) {
	good, _ := filled(f, Params{Blocks: 3, BlockBits: 101, Hashes: 2}, testKeys(20, 1)).MarshalBinary()
	f.Add(good[:len(good)-crcBytes])
	f.Fuzz(func(t *testing.T, data []byte) {
		var g, h Filter
		_ = g.UnmarshalBinary(data)
		data = appendCRC(bytes.Clone(data), 0) // behind the checksum is where it gets interesting
		err := g.UnmarshalBinary(data)
		_, err2 := h.ReadFrom(bytes.NewReader(data))
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Errorf("%v is not ErrMalformed", err)
			}
			return
		}
		if err2 != nil || !h.Equal(&g) {
			t.Errorf("ReadFrom: %v", err2)
		}
		if again, _ := g.MarshalBinary(); !bytes.Equal(again, data) {
			t.Error("decoding and encoding changes the bytes")
		}
		g.Contains(data)
	})
}
