package misdeed

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Liar decides what a peer that misbehaves says. It does no I/O: the simulator's adversaries and package fault's peers
// on real hosts send what it returns. All fields but Twin and Offer are required.
type Liar struct {
	Kind   string // one of Kinds
	Rand   *rand.Rand
	Own    func() (c Claim, ok bool) // its own summary; false: it has none yet
	Twin   func() Claim              // a second summary under the epoch of Own; nil: it signs none
	Spoils bool                      // it spoils the parts of Own that it sends
	Others []string                  // names of other peers
	Ghosts int                       // number of peers that it makes up
	Ghost  func(i int) wire.Record   // returns the record of made-up peer i, from 0
	Offer  func(i int) Claim         // returns the summary of made-up peer i; nil: it offers none

	done    int // number of lies so far
	told    int // number of made-up peers named so far; they take turns
	spoiler spoiler
	items   map[int]wire.Item      // offers of made-up peers, by the number of the peer
	claims  map[wire.GroupID]Claim // summaries offered
}

// The kinds of liars. A faulty one tells all lies.
const (
	Garbage    = "garbage"
	Twins      = "twins"
	Unasked    = "unasked"
	Future     = "future"
	Ghosts     = "ghosts"
	Identities = "identities"
	Faulty     = "faulty"
)

// Kinds has all kinds of liars.
var Kinds = []string{Garbage, Twins, Unasked, Future, Ghosts, Identities, Faulty}

// lies returns the lies of the liar's kind, which it tells by turns.
func (l *Liar) lies() []func(to string) Lie {
	switch l.Kind {
	case Garbage:
		return []func(string) Lie{l.garbage}
	case Twins:
		return []func(string) Lie{l.announce}
	case Unasked:
		return []func(string) Lie{l.unasked}
	case Future:
		return []func(string) Lie{l.future}
	case Ghosts:
		return []func(string) Lie{l.introduce}
	case Identities:
		return []func(string) Lie{l.introduce, l.offer}
	}
	return []func(string) Lie{l.garbage, l.announce, l.unasked, l.future, l.introduce, l.offer}
}

// Lies returns the number of lies that the liar tells by turns.
func (l *Liar) Lies() int { return len(l.lies()) }

// HasTwin reports whether a liar of a kind, with a number of its own, signs two summaries under one epoch.
func HasTwin(kind string, number int) bool {
	return kind == Twins || kind == Faulty && number%4 == 3
}

// Lie holds one lie to a peer: Bytes, a wire.Hello, a wire.Catalogue or Parts. A nil Lie says nothing.
type Lie any

// Bytes are no message.
type Bytes struct {
	Bytes  []byte
	Stream bool // they go on a stream; else in an RPC of pubsub
}

// Parts are parts of a summary, as pubsub carries them.
type Parts struct {
	Group wire.GroupID
	wire.Parts
}

// Next returns the next lie to a peer.
func (l *Liar) Next(to string) Lie {
	lies := l.lies()
	lie := lies[l.done%len(lies)](to)
	l.done++
	return lie
}

// garbage returns by turns a message of garbage on a stream, a length of a tebibyte with nothing after it, an RPC, and
// an RPC over the limit.
func (l *Liar) garbage(string) Lie {
	switch l.done / l.Lies() % 4 {
	case 0:
		var b bytes.Buffer
		_ = wire.WriteFrame(&b, l.noise(49))
		return Bytes{b.Bytes(), true}
	case 1:
		return Bytes{binary.AppendUvarint(nil, 1<<40), true}
	case 2:
		return Bytes{l.noise(1000), false}
	}
	return Bytes{make([]byte, wire.MaxPartsRPC+1), false}
}

// noise returns bytes that no message begins with.
func (l *Liar) noise(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(l.Rand.Uint32())
	}
	b[0] = 0xff
	return b
}

// announce offers the liar's own summary.
func (l *Liar) announce(string) Lie {
	own, ok := l.Own()
	if !ok {
		return nil
	}
	return wire.Catalogue{own.Item()}
}

// unasked returns the first part of the liar's own summary under a random group, for which the receiver cannot have
// asked.
func (l *Liar) unasked(string) Lie {
	own, ok := l.Own()
	if !ok {
		return nil
	}
	p, _ := own.Parts(wire.Item{Want: 1})
	return Parts{wire.NewGroup(l.Rand.Uint64(), summary.Epoch{Generation: 1, Sequence: 1}), p}
}

// future offers newer epochs, which do not exist, of a made-up origin and of other peers.
func (l *Liar) future(to string) Lie { return wire.Catalogue(future(l.Rand, l.Others, to)) }

// introduce says hello in a new session, with records of made-up peers.
func (l *Liar) introduce(string) Lie {
	return Hello(l.Rand.Uint64()|1, l.ghosts(wire.MaxHelloRecords)...)
}

// offer offers summaries of made-up peers, if the liar can sign them. Else it introduces these peers.
func (l *Liar) offer(to string) Lie {
	if l.Offer == nil {
		return l.introduce(to)
	}
	var items wire.Catalogue
	for range min(wire.MaxHelloRecords, l.Ghosts) {
		items = append(items, l.item(l.turn()))
	}
	return items
}

// item returns the item that offers the summary of a made-up peer. The summary is made when it is first offered.
func (l *Liar) item(i int) wire.Item {
	it, made := l.items[i]
	if !made {
		if l.items == nil {
			l.items, l.claims = map[int]wire.Item{}, map[wire.GroupID]Claim{}
		}
		c := l.Offer(i)
		it = c.Item()
		l.items[i], l.claims[it.Group] = it, c
	}
	return it
}

// ghosts returns records of the next made-up peers, up to n.
func (l *Liar) ghosts(n int) (out []wire.Record) {
	for range min(n, l.Ghosts) {
		out = append(out, l.Ghost(l.turn()))
	}
	return out
}

// turn returns the number of the made-up peer whose turn it is.
func (l *Liar) turn() int {
	l.told++
	return (l.told - 1) % l.Ghosts
}

// Answer returns the answer to a question; false: the liar does not lie about this. It names made-up peers as the
// holders of any key.
func (l *Liar) Answer(question wire.Message) (answer wire.Message, ok bool) {
	switch q := question.(type) {
	case wire.Query:
		if l.Ghosts > 0 {
			return wire.Answer{Records: l.ghosts(4), Messages: 1, Final: true}, true
		}
	case wire.PartsRequest:
		return l.PartsOf(wire.Item{Group: q.Group, Have: uint16(q.First), Want: uint16(q.End)})
	}
	return nil, false
}

// PartsOf returns the parts that an item asks for, of a made-up peer or of the liar's own summary, spoiled; false: the
// liar does not lie about this.
func (l *Liar) PartsOf(it wire.Item) (p wire.Parts, ok bool) {
	if it.Want <= it.Have {
		return p, false
	}
	if own, ok := l.Own(); ok && l.Spoils && it.Group == own.Item().Group {
		return l.spoiler.parts(own, l.Twin, it), true
	}
	if c, offered := l.claims[it.Group]; offered {
		return c.Parts(it)
	}
	return p, false
}
