package summary

import (
	"runtime"
	"testing"
	"weak"

	"github.com/venn-p2p/venn/summary/internal/trie"
)

// oneSet reports whether p knows one set of nodes, and nothing else.
func oneSet(p *Prefix) bool { return p.front.End() > 0 && (p.more == nil || p.tries == nil) }

// TestBlocksKeepNoPrefix: who keeps what is known of the blocks keeps no parts, chain and header.
func TestBlocksKeepNoPrefix(t *testing.T) {
	blocks, from := func() ([]*trie.Block, weak.Pointer[Prefix]) {
		p := mustBuild(t, someKeys(1, 12_000), Shape{})
		if !oneSet(p) {
			t.Fatal("not one set")
		}
		return p.blocks(), weak.Make(p)
	}()
	runtime.GC()
	if from.Value() != nil {
		t.Error("the blocks keep the prefix that they were made of")
	}
	runtime.KeepAlive(blocks)
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
