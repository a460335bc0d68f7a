package summary

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"
)

// junkDelta returns a delta that says of every node that it is gone, which is the shortest to write.
func junkDelta(p *Prefix) []byte {
	b, base := []byte{version}, p.Header().Epoch
	b = binary.BigEndian.AppendUint32(b, base.Generation)
	b = binary.BigEndian.AppendUint32(b, base.Sequence)
	b = binary.AppendUvarint(b, uint64(p.Parts()))
	b = append(b, make([]byte, 2*len(digest{}))...)
	for i, t := range p.Blocks() {
		for _, r := range p.plan.knowledge(i, p.Parts()) {
			nodes := t.AppendNodes(nil, r.Begin, r.End, r.Level)
			b = appendChange(b, nodes, nil, r.Nodes(t.Start))
		}
	}
	return b
}

// TestJunkDelta applies a delta that empties 64 blocks. Its error names one fault, and it costs less than an honest
// delta.
func TestJunkDelta(t *testing.T) {
	levels := make([]uint8, maxBlocks)
	for i := range levels {
		levels[i] = 38
	}
	keys := someKeys(1, 96)
	old, next := epochs(t, keys, changed(1, keys, 1, 1), Shape{Keys: 96, Levels: levels})
	honest, err := EncodeDelta(old, next, maxParts)
	if err != nil {
		t.Fatal(err)
	}
	took := func(delta []byte) (time.Duration, error) {
		least, last := time.Hour, error(nil)
		for range 5 {
			begin := time.Now()
			_, last = ApplyDelta(old, next.Header(), delta)
			least = min(least, time.Since(begin))
		}
		return least, last
	}
	good, err := took(honest)
	if err != nil {
		t.Fatal(err)
	}
	bad, err := took(junkDelta(old))
	if !errors.Is(err, ErrMalformed) {
		t.Fatal(err)
	}
	if n := len(err.Error()); n > 500 || strings.Contains(err.Error(), "\n") {
		t.Errorf("an error of %d bytes", n)
	}
	if bad > good {
		t.Errorf("%v for junk, %v for an honest delta", bad, good)
	}
}

// TestCompactFault holds the error of a compact prefix that does not verify to ErrChain.
func TestCompactFault(t *testing.T) {
	for _, n := range []int{10, 5000} { // a small one, and one with a chain
		p := mustBuild(t, someKeys(1, n), Shape{}).Compact()
		h := p.Header()
		h.Chain[0] ^= 1
		p.header = kept(&h)
		for _, to := range []int{1, p.Parts()} {
			if _, err := p.Run(0, to); !errors.Is(err, ErrChain) {
				t.Errorf("%d keys, %d parts: %v", n, to, err)
			}
		}
	}
}

// TestNoOrigin holds the error of a header without an origin to saying that it is missing.
func TestNoOrigin(t *testing.T) {
	_, err := Build(someKeys(1, 10), Header{Lifetime: time.Hour})
	if err == nil || !strings.Contains(err.Error(), "no origin") || !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
}
