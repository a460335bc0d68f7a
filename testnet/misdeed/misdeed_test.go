package misdeed

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// claim is a summary of n keys.
func claim(t *testing.T, n int) Claim {
	fps := make([]summary.Fingerprint, n)
	for i := range fps {
		fps[i] = summary.Fingerprint(uint64(i+1) * 0x9e3779b97f4a7c15 >> 16)
	}
	s, err := summary.Build(fps, summary.Header{Origin: "liar"})
	if err != nil {
		t.Fatal(err)
	}
	return Claim{Stream: s, Envelope: []byte("signed"), Record: []byte("record")}
}

// Of six answers each spoils in its own way. A twin of a key less may have fewer parts: who holds all of them and asks
// for the others gets an answer.
func TestSpoiled(t *testing.T) {
	own, twin := claim(t, 2049), claim(t, 2048)
	held, all := twin.Stream.Parts(), own.Stream.Parts()
	if held >= all {
		t.Fatalf("the twin has %d parts of %d", held, all)
	}
	var s, short Spoiler
	for i := range 6 {
		of := []Claim{own, twin}[i%2]
		a, ok := of.Parts(wire.Item{Want: 1})
		b := s.Parts(own, func() Claim { return twin }, wire.Item{Want: 1})
		if right := bytes.Equal(a.Envelope, b.Envelope); !ok || right != (i%3 != 0) {
			t.Errorf("answer %d: the signature is right: %v", i, right)
		}
		if right := bytes.Equal(a.Run.Parts[0], b.Run.Parts[0]); right != (i%3 != 1) {
			t.Errorf("answer %d: the part is right: %v", i, right)
		}
		if a := short.Parts(own, func() Claim { return twin }, wire.Item{Have: uint16(held), Want: uint16(all)}); len(a.Run.Parts) == 0 || len(a.Envelope) > 0 {
			t.Errorf("answer %d: %+v", i, a)
		}
	}
}

// Newer epochs are offered of everybody else, as far as a catalogue goes.
func TestFutureFits(t *testing.T) {
	for others, want := range map[int]int{19: 20, 10_000: wire.MaxItems} {
		items := Future(rand.New(rand.NewPCG(1, 1)), func(yield func(string) bool) {
			for i := 0; i < others && yield(strconv.Itoa(i)); i++ {
			}
		})
		if len(items) != want {
			t.Errorf("%d items of %d others, not %d", len(items), others, want)
		}
	}
}
