package summary

import (
	"runtime"
	"testing"
	"weak"
)

// oneSet reports whether p knows one set of nodes, and nothing else.
func oneSet(p *Prefix) bool { return p.Front() != nil && (p.more == nil || p.tries == nil) }

// TestFilterKeepsNoPrefix: a filter is what is known of the blocks, without the parts, the chain and the header.
func TestFilterKeepsNoPrefix(t *testing.T) {
	f, from := func() (*Filter, weak.Pointer[Prefix]) {
		p := mustBuild(t, someKeys(1, 12_000), Shape{})
		if !oneSet(p) {
			t.Fatal("not one set")
		}
		return p.Filter(), weak.Make(p)
	}()
	runtime.GC()
	if from.Value() != nil {
		t.Error("the filter keeps the prefix that it was made of")
	}
	runtime.KeepAlive(f)
}

// TestCompactKeepsNoPrefix: a compact prefix of two blocks keeps no prefix that it was extended from.
func TestCompactKeepsNoPrefix(t *testing.T) {
	shape := Shape{Keys: 20_000, SampleBytes: 1024, SampleLevel: 20, Levels: []uint8{22, 18}}
	c, before := func() (*Prefix, []weak.Pointer[Prefix]) {
		full := mustBuild(t, someKeys(1, 20_000), shape)
		p, err := NewPrefix(full.Header())
		var before []weak.Pointer[Prefix]
		single := 0
		for k := 0; k < full.Parts() && err == nil; k++ {
			r, _ := full.Run(k, k+1)
			if p, err = p.Extend(r); err != nil {
				break
			}
			before = append(before, weak.Make(p))
			if oneSet(p) {
				single++
			}
		}
		if err != nil || single == 0 || oneSet(p) {
			t.Fatalf("%d prefixes have but one set (%v)", single, err)
		}
		return p.Compact(), before
	}()
	runtime.GC()
	for k, p := range before {
		if p.Value() != nil {
			t.Errorf("the prefix of %d parts is kept", k+1)
		}
	}
	runtime.KeepAlive(c)
}
