// Package misdeed decides what liars say. The simulator's adversaries and package fault's peers on real hosts send it.
package misdeed

import (
	"bytes"
	"math/rand/v2"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Claim is a signed summary, and the signed record of its origin.
type Claim struct {
	Stream           *summary.Prefix
	Envelope, Record []byte
}

// Item returns the item of a catalogue that offers the claim.
func (c Claim) Item() wire.Item {
	return wire.Item{Group: wire.GroupOf(c.Stream.Header()), Have: uint16(c.Stream.Parts())}
}

// Parts returns the parts that are asked for, as an honest holder does; ok is false if there are none.
func (c Claim) Parts(it wire.Item) (a wire.Parts, ok bool) {
	run, err := c.Stream.Run(int(it.Have), min(int(it.Want), c.Stream.Parts()))
	if err != nil || len(run.Parts) == 0 {
		return a, false
	}
	a.Run = run
	if it.Have == 0 {
		a.Envelope, a.Record = c.Envelope, c.Record
	}
	return a, true
}

// spoiler spoils answers, in several ways by turns.
type spoiler struct{ answered int }

// parts returns the parts of a claim that are asked for. By turns their signature is wrong, the first part differs
// from the signed one, or they are correct. With a twin, a second claim under the same epoch, every second answer is
// of the twin.
func (s *spoiler) parts(c Claim, twin func() Claim, it wire.Item) wire.Parts {
	if s.answered++; twin != nil && s.answered%2 == 0 {
		c = twin()
	}
	a, ok := c.Parts(it)
	switch {
	case !ok: // a twin may have fewer parts than are asked for
		a.Run = summary.Run{First: int(it.Have), Parts: [][]byte{{0}}}
	case s.answered%3 == 1 && len(a.Envelope) > 0:
		a.Envelope = bytes.Clone(a.Envelope)
		a.Envelope[len(a.Envelope)-1] ^= 1
	case s.answered%3 == 2:
		part := bytes.Clone(a.Run.Parts[0])
		part[0] ^= 1
		a.Run.Parts = append([][]byte{part}, a.Run.Parts[1:]...)
	}
	return a
}

// future returns items that offer newer epochs, which do not exist, of a made-up origin and of others, up to a
// catalogue's limit. The peer to is not among them.
func future(rng *rand.Rand, others []string, to string) []wire.Item {
	e := summary.Epoch{Generation: 1<<32 - 2, Sequence: rng.Uint32()}
	items := []wire.Item{{Group: wire.NewGroup(rng.Uint64(), e), Have: 20}}
	for _, name := range others {
		if name != to && len(items) < wire.MaxItems {
			items = append(items, wire.Item{Group: wire.NewGroup(wire.OriginTag(name), e), Have: 20})
		}
	}
	return items
}

// Hello returns a hello that claims a fast line, much knowledge, and to be a neighbour already.
func Hello(session uint64, records ...wire.Record) wire.Hello {
	return wire.Hello{Up: 1 << 30, Down: 1 << 30, Origins: 1 << 20, Neighbour: true, Session: session, Records: records}
}
