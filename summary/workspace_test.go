package summary

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"
)

// TestDecodingAtOnce: decodings at once, and after ones that failed, share memory and no result. Each prefix has the
// keys that it should, and makes the parts that its origin made.
func TestDecodingAtOnce(t *testing.T) {
	var all sync.WaitGroup
	for i := range 8 {
		fps := someKeys(uint64(i), 500<<(i%5))
		full := mustBuild(t, fps, Shape{})
		all.Go(func() {
			for range 5 {
				if err := decodeWhole(full, fps); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// TestDecodingAgain: decodings of all parts, one after the other, share memory and no result. The largest has several
// ranges, and each deepens its sample.
func TestDecodingAgain(t *testing.T) {
	var prefixes []*Prefix
	var keys [][]Fingerprint
	for i, n := range []int{40_000, 300, 3000, 40_000, 12_000, 40_001} {
		keys = append(keys, someKeys(uint64(i), n))
		full := mustBuild(t, keys[i], Shape{})
		none := must(NewPrefix(full.Header()))
		r, _ := full.Run(0, full.Parts())
		p := must(none.Extend(r))
		prefixes = append(prefixes, p)
	}
	deepest := func(p *Prefix) []uint64 {
		b := p.tries[0]
		return b.AppendNodes(nil, 0, 1<<b.Start, int(p.Header().Shape.Levels[0]))
	}
	for i, p := range prefixes {
		if !slices.Equal(deepest(p), deepest(mustBuild(t, keys[i], Shape{}))) {
			t.Errorf("decoding %d has other nodes than were built", i)
		}
	}
}

// decodeWhole extends a prefix part by part, each after a part that is broken behind its hash, and compares.
func decodeWhole(full *Prefix, fps []Fingerprint) error {
	p, err := NewPrefix(full.Header())
	for k := 0; k < full.Parts() && err == nil; k++ {
		r, _ := full.Run(k, k+1)
		broken := slices.Clone(r.Parts[0])
		for i := range broken {
			broken[i] ^= byte(i + 1)
		}
		d := decoder{plan: p.plan, tries: p.tries}
		_ = d.decode(k, [][]byte{broken}) // it may be well-formed by chance
		p, err = p.Extend(r)
	}
	if err != nil {
		return err
	}
	for _, f := range fps {
		if !p.Contains(f) {
			return fmt.Errorf("%x is denied", f)
		}
	}
	want, _ := full.Run(0, full.Parts())
	again, err := Build(fps, testHeader(Shape{}))
	if err != nil {
		return err
	}
	got, _ := again.Run(0, again.Parts())
	if !bytes.Equal(want.AppendBinary(nil), got.AppendBinary(nil)) || p.FalsePositiveRate() != full.FalsePositiveRate() {
		return fmt.Errorf("decoded with a false-positive rate of %v, want %v", p.FalsePositiveRate(), full.FalsePositiveRate())
	}
	return nil
}
