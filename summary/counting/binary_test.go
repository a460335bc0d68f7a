package counting

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"os"
	"runtime"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

type filter interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
	appendBinary([]byte) ([]byte, error)
	Add(uint64) error
	Len() int
}

// fixtures are one small filter of each form, with the name of its golden file.
func fixtures(t testing.TB) map[string]filter {
	words, err := NewDLeft(Params{Buckets: 2, RemainderBits: 14, Seed: 11})
	if err != nil {
		t.Fatal(err)
	}
	packed, err := NewDLeft(Params{Subtables: 3, Buckets: 4, Cells: 3, RemainderBits: 16, CounterBits: 3, Seed: 12})
	if err != nil {
		t.Fatal(err)
	}
	bloom, err := NewBloom(100, 5)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]filter{"words": words, "packed": packed, "bloom": bloom}
	for _, f := range all {
		for i := range uint64(9) {
			if err := f.Add(i / 2 * 0x9e3779b97f4a7c15); err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}

func TestGolden(t *testing.T) {
	for name, f := range fixtures(t) {
		got, err := f.appendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		file := "testdata/" + name + ".hex"
		if *rewrite {
			if err := os.WriteFile(file, []byte(hex.EncodeToString(got)+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if hex.EncodeToString(got)+"\n" != string(want) {
			t.Errorf("%s: %x", name, got)
		}
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	for name, f := range fixtures(t) {
		good, _ := f.MarshalBinary()
		refuses := func(what string, b []byte) {
			if err := f.UnmarshalBinary(b); !errors.Is(err, errMalformed) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
			if now, _ := f.MarshalBinary(); !bytes.Equal(now, good) {
				t.Fatalf("%s, %s: the filter changed", name, what)
			}
		}
		for n := range good {
			refuses("cut", good[:n])
		}
		refuses("longer", append(bytes.Clone(good), 0))
		for i := range good {
			b := bytes.Clone(good)
			b[i] ^= 0x10
			refuses("a bit changed", b)
		}
		refuses("nothing there", append(bytes.Clone(good[:12]), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff))
		for i := range 8 {
			b := bytes.Clone(good)
			b[i] = 0xff
			refuses("header", b)
			refuses("header, sealed", appendSum(b[:len(b)-4], 0))
		}
	}
}

func TestUnmarshalRefusesImpossibleTables(t *testing.T) {
	table := func() *DLeft {
		f, err := NewDLeft(Params{Subtables: 2, Buckets: 4, Cells: 3, RemainderBits: 10, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	twice := table()
	for i := range 2 {
		b, r := twice.place(i, 1234)
		twice.set(b, 0, twice.cell(r, 1))
	}
	gap := table()
	b, r := gap.place(1, 1234)
	gap.set(b, 1, gap.cell(r, 1))
	for name, f := range map[string]*DLeft{"a fingerprint twice": twice, "a gap": gap} {
		data, _ := f.MarshalBinary()
		if err := table().UnmarshalBinary(data); !errors.Is(err, errMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	data, _ := mustBloom(t, 33, 4).MarshalBinary()
	data[len(data)-5] = 1 // a counter that does not exist
	if err := new(Bloom).UnmarshalBinary(appendSum(data[:len(data)-4], 0)); !errors.Is(err, errMalformed) {
		t.Errorf("counter after the last: %v", err)
	}
}

// TestUnmarshalMemory holds the memory that a decoder takes for a full filter to a multiple of the bytes.
func TestUnmarshalMemory(t *testing.T) {
	c := mustBloom(t, 1<<20, 4)
	for i := range uint64(1 << 17) {
		if err := c.Add(i * 0x9E3779B97F4A7C15); err != nil {
			t.Fatal(err)
		}
	}
	data, _ := c.MarshalBinary()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := new(Bloom).UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if times := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(data)); times > 12 {
		t.Errorf("%.1f times the input allocated", times)
	} else {
		t.Logf("%.1f times the input allocated", times)
	}
}

// TestOtherForm refuses coded counters where plain ones are due, and plain ones where coded ones are.
func TestOtherForm(t *testing.T) {
	sparse, full := mustBloom(t, 1<<12, 4), mustBloom(t, 1<<12, 4)
	for i := range uint64(1 << 9) {
		_ = full.Add(i * 0x9E3779B97F4A7C15)
	}
	for _, c := range []*Bloom{sparse, full} {
		data, _ := c.MarshalBinary()
		head := data[:bloomHeader]
		head[5] = formCoded + formPlain - head[5]
		if head[5] == formCoded {
			head = appendCounters(head, make([]uint8, c.counters))
		} else {
			for _, w := range c.words {
				head = binary.LittleEndian.AppendUint64(head, w)
			}
		}
		if err := new(Bloom).UnmarshalBinary(appendSum(head, 0)); !errors.Is(err, errMalformed) {
			t.Errorf("%d members in the form %d: %v", c.Len(), head[5], err)
		}
	}
}

// TestForRateNames holds an error to the numbers that the caller gave.
func TestForRateNames(t *testing.T) {
	_, err := NewBloomForRate(1000, 1e-300)
	if !errors.Is(err, errParams) || !strings.Contains(err.Error(), "1e-300") || strings.Contains(err.Error(), "k is") {
		t.Error(err)
	}
}

func fuzzUnmarshal(f *testing.F, empty func() filter) {
	for _, fixture := range fixtures(f) {
		data, _ := fixture.MarshalBinary()
		f.Add(data[:len(data)-4])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = appendSum(data, 0)
		back := empty()
		if err := back.UnmarshalBinary(data); err != nil {
			if !errors.Is(err, errMalformed) || back.Len() != 0 {
				t.Fatal(err)
			}
			return
		}
		again, _ := back.MarshalBinary()
		if !bytes.Equal(again, data) {
			t.Fatalf("%x was accepted, but is written as %x", data, again)
		}
	})
}

func FuzzUnmarshalDLeft(f *testing.F) { fuzzUnmarshal(f, func() filter { return new(DLeft) }) }
func FuzzUnmarshalBloom(f *testing.F) { fuzzUnmarshal(f, func() filter { return new(Bloom) }) }
