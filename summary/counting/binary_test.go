package counting

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"os"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// fixtures are one small filter of each form, with the name of its golden file.
func fixtures(t testing.TB) map[string]*DLeft {
	words, err := NewDLeft(Params{Buckets: 2, RemainderBits: 14, Seed: 11})
	if err != nil {
		t.Fatal(err)
	}
	packed, err := NewDLeft(Params{Subtables: 3, Buckets: 4, Cells: 3, RemainderBits: 16, CounterBits: 3, Seed: 12})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*DLeft{"words": words, "packed": packed}
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
}

func FuzzUnmarshal(f *testing.F) {
	for _, fixture := range fixtures(f) {
		data, _ := fixture.MarshalBinary()
		f.Add(data[:len(data)-4])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = appendSum(data, 0)
		var back DLeft
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
