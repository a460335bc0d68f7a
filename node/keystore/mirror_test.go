package keystore

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/counting"
)

// TestMirror holds a mirror, stored and read at random, to a map of counts.
func TestMirror(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := new(Mirror)
		model := make(map[summary.Fingerprint]int)
		length := 0
		fingerprint := rapid.Map(rapid.Uint64Range(0, 20), func(v uint64) summary.Fingerprint {
			return summary.Fingerprint(v * 0x0df1_5a5a_1357 & (1<<summary.FingerprintBits - 1))
		})
		rt.Repeat(map[string]func(*rapid.T){
			"add": func(rt *rapid.T) {
				f := fingerprint.Draw(rt, "f")
				switch err := m.Add(f); {
				case err == nil && model[f] < 4:
					model[f]++
					length++
				case !errors.Is(err, counting.ErrOverflow) || model[f] < 3:
					rt.Fatalf("add to %d of %#x: %v", model[f], f, err)
				}
			},
			"remove": func(rt *rapid.T) {
				f := fingerprint.Draw(rt, "f")
				m.Remove(f)
				if model[f] > 0 {
					model[f]--
					length--
				}
				if model[f] == 0 {
					delete(model, f)
				}
			},
			"store": func(rt *rapid.T) {
				b, err := m.MarshalBinary()
				if err != nil {
					rt.Fatal(err)
				}
				again := new(Mirror)
				if err := again.UnmarshalBinary(b); err != nil {
					rt.Fatal(err)
				}
				m = again
			},
			"": func(rt *rapid.T) {
				want := slices.Sorted(maps.Keys(model))
				if got := slices.Sorted(m.Fingerprints); !slices.Equal(got, want) || m.Len() != length {
					rt.Fatalf("%d: %x, want %d: %x", m.Len(), got, length, want)
				}
			},
		})
	})
}

// TestMirrorGrows through several doublings and loses nothing, then shrinks to nothing.
func TestMirrorGrows(t *testing.T) {
	var m Mirror
	h := summary.Seed{Network: "test"}.Hasher()
	var fps []summary.Fingerprint
	for i := range 8 * leastKeys {
		fps = append(fps, h.Fingerprint(fmt.Append(nil, i)))
		if err := m.Add(fps[i]); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range fps {
		if !m.Contains(f) {
			t.Fatalf("%#x is lost", f)
		}
	}
	m.Remove(fps...)
	if m.Len() != 0 || len(slices.Collect(m.Fingerprints)) != 0 {
		t.Errorf("%d left", m.Len())
	}
}

func TestMirrorRefuses(t *testing.T) {
	other, err := counting.NewDLeft(counting.ParamsForFingerprint(100, 40))
	if err != nil {
		t.Fatal(err)
	}
	narrow, _ := other.MarshalBinary()
	var m Mirror
	if err := m.Add(7); err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{nil, []byte("vdl3"), narrow} {
		if err := m.UnmarshalBinary(b); !errors.Is(err, errMirror) {
			t.Errorf("%d bytes: %v", len(b), err)
		}
	}
	if !m.Contains(7) || m.Len() != 1 {
		t.Error("a refused form changed the mirror")
	}
}
