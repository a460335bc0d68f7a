package summary

import (
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

// junkRun returns a relative run that says of every node of the base that it is gone, which is the shortest to write.
func junkRun(p *Prefix) Relative {
	r := Relative{Base: p.Header().group(), BaseParts: p.Parts(), Parts: p.Parts()}
	for i, t := range p.tries {
		for _, region := range p.plan.knowledge(i, p.Parts()) {
			nodes := t.AppendNodes(nil, region.Begin, region.End, region.Level)
			r.Code = binary.AppendUvarint(r.Code, uint64(len(nodes)))
			r.Code = append(r.Code, 0) // none added
		}
	}
	return r
}

// TestJunkRun decodes a relative run that empties 64 blocks. Its error names one fault, and it costs less than an honest
// one.
func TestJunkRun(t *testing.T) {
	levels := make([]uint8, maxBlocks)
	for i := range levels {
		levels[i] = 38
	}
	keys := someKeys(1, 96)
	old, next := epochs(t, keys, changed(1, keys, 1, 1), Shape{Keys: 96, Levels: levels})
	honest, none := related(t, next, next.Parts(), old), next.Truncate(0)
	took := func(r Relative) (time.Duration, error) {
		least, last := time.Hour, error(nil)
		for range 5 {
			begin := time.Now()
			_, last = none.ExtendRelative(old, r)
			least = min(least, time.Since(begin))
		}
		return least, last
	}
	good, err := took(honest)
	if err != nil {
		t.Fatal(err)
	}
	bad, err := took(junkRun(old))
	if !errors.Is(err, ErrMalformed) {
		t.Fatal(err)
	}
	if n := len(err.Error()); n > 500 || strings.Contains(err.Error(), "\n") {
		t.Errorf("an error of %d bytes", n)
	}
	if bad > good {
		t.Errorf("%v for junk, %v for an honest run", bad, good)
	}
}

// allocated returns the number of bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestWorstHeader plans for the header of 1 KiB that takes most, in one pass: another pass for each block took megabytes.
func TestWorstHeader(t *testing.T) {
	if n := allocated(func() { must(NewPlan(1<<16-1, worstShape(1<<16-1))) }); n > 256<<10 {
		t.Errorf("%d bytes are allocated for the plan", n)
	}
}

// TestJunkForCompact sends junk to who holds a compact prefix. It is refused before what is held is encoded.
func TestJunkForCompact(t *testing.T) {
	whole := mustBuild(t, someKeys(1, 100_000), Shape{})
	p := whole.Truncate(whole.Parts() - 1).Compact()
	var err error
	n := allocated(func() { _, err = p.Extend(Run{First: p.Parts(), Parts: [][]byte{make([]byte, 1000)}}) })
	if !errors.Is(err, ErrChain) || n > 64<<10 {
		t.Errorf("%d bytes are allocated for junk: %v", n, err)
	}
}

// TestCompactFault holds the error of a compact prefix that does not verify to ErrChain.
func TestCompactFault(t *testing.T) {
	for _, n := range []int{10, 5000} { // a small one, and one with a chain
		p := mustBuild(t, someKeys(1, n), Shape{}).Compact()
		h := p.Header()
		h.Chain[0] ^= 1
		p.header = h
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
