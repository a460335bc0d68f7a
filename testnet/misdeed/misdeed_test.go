package misdeed

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// claim is a summary of n keys of the liar.
func claim(t *testing.T, n int) Claim { return claimOf(t, "liar", n) }

func claimOf(t *testing.T, origin string, n int) Claim {
	fps := make([]summary.Fingerprint, n)
	for i := range fps {
		fps[i] = summary.Fingerprint(uint64(i+1) * 0x9e3779b97f4a7c15 >> 16)
	}
	s, err := summary.Build(fps, summary.Header{Origin: origin})
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
	var s, short spoiler
	for i := range 6 {
		of := []Claim{own, twin}[i%2]
		a, ok := of.Parts(wire.Item{Want: 1})
		b := s.parts(own, func() Claim { return twin }, wire.Item{Want: 1})
		if right := bytes.Equal(a.Envelope, b.Envelope); !ok || right != (i%3 != 0) {
			t.Errorf("answer %d: the signature is right: %v", i, right)
		}
		if right := bytes.Equal(a.Run.Parts[0], b.Run.Parts[0]); right != (i%3 != 1) {
			t.Errorf("answer %d: the part is right: %v", i, right)
		}
		if a := short.parts(own, func() Claim { return twin }, wire.Item{Have: uint16(held), Want: uint16(all)}); len(a.Run.Parts) == 0 || len(a.Envelope) > 0 {
			t.Errorf("answer %d: %+v", i, a)
		}
	}
}

// Newer epochs are offered of everybody else, as far as a catalogue goes.
func TestFutureFits(t *testing.T) {
	for others, want := range map[int]int{19: 20, 10_000: wire.MaxItems} {
		names := []string{"to"}
		for i := range others {
			names = append(names, strconv.Itoa(i))
		}
		items := future(rand.New(rand.NewPCG(1, 1)), names, "to")
		if len(items) != want {
			t.Errorf("%d items of %d others, not %d", len(items), others, want)
		}
	}
}

// Each kind tells its lies by turns, those of a faulty peer are the lies of all. It answers for made-up peers and for
// its own summary, and for nothing else.
func TestLies(t *testing.T) {
	own, offered := claim(t, 100), claimOf(t, "ghost", 10)
	for _, kind := range Kinds {
		l := &Liar{
			Kind: kind, Rand: rand.New(rand.NewPCG(1, 1)), Spoils: true, Ghosts: 3,
			Own:    func() (Claim, bool) { return own, true },
			Others: []string{"to", "other"},
			Ghost:  func(i int) wire.Record { return wire.Record{Peer: wire.PeerID(strconv.Itoa(i))} },
			Offer:  func(int) Claim { return offered },
		}
		var told []string
		for range 4 * l.Lies() {
			switch lie := l.Next("to").(type) {
			case Bytes:
				told = append(told, fmt.Sprint("garbage on a stream: ", lie.Stream, ", over the limit: ", len(lie.Bytes) > wire.MaxPartsRPC))
			case wire.Hello:
				told = append(told, fmt.Sprintf("hello with %d records", len(lie.Records)))
			case wire.Catalogue:
				told = append(told, fmt.Sprintf("%d items", len(lie)))
			case Parts:
				told = append(told, fmt.Sprintf("%d part, asked for: %v", len(lie.Run.Parts), lie.Group == own.Item().Group))
			}
		}
		different := slices.Compact(slices.Sorted(slices.Values(told)))
		if want := map[string]int{"garbage": 3, "identities": 2, "faulty": 8}[kind]; len(told) != 4*l.Lies() || len(different) != max(want, 1) {
			t.Errorf("a liar of kind %s says %q", kind, told)
		}
		a, ok := l.Answer(wire.Query{})
		if names, is := a.(wire.Answer); !ok || !is || len(names.Records) != 3 {
			t.Errorf("holders are %+v", a)
		}
		for g, want := range map[wire.GroupID]bool{own.Item().Group: true, offered.Item().Group: kind == "identities" || kind == "faulty", {8}: false} {
			if _, ok := l.Answer(wire.PartsRequest{Group: g, End: 1}); ok != want {
				t.Errorf("parts of %v: %v", g, ok)
			}
		}
	}
}
