package summary

import (
	"bytes"
	"errors"
	"testing"
	"time"
)

// A renewed stream is the one that building the same collection under the other epoch gives, and its parts extend each
// other's prefixes.
func TestRenew(t *testing.T) {
	fps := make([]Fingerprint, 3000)
	for i := range fps {
		fps[i] = Fingerprint(uint64(i+1) * 0x9e3779b97f4a7c15 >> (64 - FingerprintBits))
	}
	first, err := Build(fps, Header{Origin: "peer", Epoch: Epoch{Generation: 1, Sequence: 1}})
	if err != nil {
		t.Fatal(err)
	}
	later := Epoch{Generation: 1, Sequence: 65}
	want := must(Build(fps, Header{Origin: "peer", Epoch: later}))
	h := first.Header()
	h.Epoch = later
	got := must(first.Under(h))
	a, errA := got.Header().AppendBinary(nil)
	b, errB := want.Header().AppendBinary(nil)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("headers differ: %x, %x, %v, %v", a, b, errA, errB)
	}
	if first.Header().Epoch == later {
		t.Error("the first stream has changed")
	}
	p := must(NewPrefix(want.Header()))
	run := must(got.Run(0, got.Parts()))
	if p, err = p.Extend(run); err != nil || p.Parts() != want.Parts() {
		t.Errorf("%v", err)
	}
	if q, err := first.Truncate(1).Under(want.Header()); err != nil || q.Parts() != 1 || q.Header().Epoch != later {
		t.Errorf("one part under the later header: %+v, %v", q, err)
	}
	other := must(Build(fps[1:], Header{Origin: "peer", Epoch: later}))
	if _, err := first.Under(other.Header()); !errors.Is(err, ErrChain) {
		t.Errorf("under the header of another collection: %v", err)
	}
	brief := want.Header()
	brief.Lifetime = time.Millisecond
	if _, err := first.Under(brief); !errors.Is(err, ErrLimit) {
		t.Errorf("under a lifetime of a millisecond: %v", err)
	}
}
