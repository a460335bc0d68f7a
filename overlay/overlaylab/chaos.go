package overlaylab

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/cache"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Chaos plays a few peers that may send one overlay anything, true or false, in any order. Bytes decide what they do,
// so that a fuzzer can drive it. The same bytes give the same inputs to the same overlay.
type Chaos struct {
	data    []byte
	origins []Origin
	asked   []event.Input // answers of honest peers to the overlay's questions, to be given later
	made    uint64        // number of origins made up so far
}

const (
	chaosPeers  = 12
	chaosEpochs = len(chaosSeeds)
	chaosUntil  = agenda.Longest // when the previous seed ends
)

// chaosSeeds holds the overlay's seed, the previous one, and one that it does not know.
var chaosSeeds = [3]summary.Seed{Seed(6), Seed(5), Seed(7)}

// chaosOrigins returns the summaries of all peers: three epochs under each seed, and a second summary signed for the
// second epoch.
var chaosOrigins = sync.OnceValue(func() (all []Origin) {
	for p := range chaosPeers {
		for s, under := range chaosSeeds {
			for e := range chaosEpochs + 1 {
				h := summary.Header{Seed: under.Tag(), Lifetime: time.Duration(1+p%3) * 20 * time.Minute, Shape: summary.DefaultShape(100)}
				h.Epoch = summary.Epoch{Generation: 1, Sequence: uint32(e + 1)}
				if e == chaosEpochs {
					h.Epoch.Sequence = 2
				}
				fps := Changed(Fingerprints(20+30*(p%4), 10, uint64(p)), 1+e, uint64(p*100+e*10+s))
				all = append(all, NewOrigin(chaosPeer(p), fps, h))
			}
		}
	}
	return all
})

func chaosPeer(i int) wire.PeerID { return wire.PeerID(fmt.Sprint("p", i)) }

// NewChaos returns the chaos that the bytes determine, and a configuration for the overlay. It sets address groups.
// If the bytes say so, it also sets a seed that is being replaced, and little memory.
func NewChaos(data []byte) (*Chaos, overlay.Config) {
	c := &Chaos{data: data, origins: chaosOrigins()}
	cfg := Alone(overlay.Config{
		MaxGroup: 1 + c.n(5), MaxOrigins: []int{0, 0, 4, 8}[c.n(4)], Memory: []int{0, 0, 6_000, 20_000}[c.n(4)], Cache: []*cache.Cache{cache.New(1 << 20), nil, nil, nil}[c.n(4)],
	})
	cfg.Seed, cfg.Rand = chaosSeeds[0].Tag(), rand.New(rand.NewPCG(uint64(c.n(256)), 1))
	if c.n(2) > 0 {
		cfg.Previous, cfg.PreviousUntil = chaosSeeds[1], chaosUntil
	}
	cfg.Group = func(r wire.Record) string { return []string{"", "x", "x", "y"}[int(r.Peer[len(r.Peer)-1])%4] }
	if c.n(8) == 0 {
		cfg.Up, cfg.Down = 256_000, 256_000
	}
	return c, cfg
}

// ChaosBytes draws n bytes for a run.
func ChaosBytes(seed uint64, n int) []byte {
	rng, data := rand.New(rand.NewPCG(seed, 21)), make([]byte, n)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	return data
}

// n draws a number below k from the next byte; k is at most 256. It returns 0 after the last byte.
func (c *Chaos) n(k int) int {
	if len(c.data) == 0 {
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b) % k
}

func (c *Chaos) peer() wire.PeerID {
	if c.n(40) == 0 {
		return "self"
	}
	return chaosPeer(c.n(chaosPeers))
}

// Origin returns one of the summaries: a true one, or the second one of an epoch.
func (c *Chaos) Origin() *Origin { return &c.origins[(c.n(256)*256+c.n(256))%len(c.origins)] }

func (c *Chaos) epoch() summary.Epoch {
	return summary.Epoch{Generation: uint32(c.n(3)), Sequence: uint32(c.n(6))}
}

func (c *Chaos) depth() int { return []int{0, 0, 0, 1, 2, 5, 63, 200}[c.n(8)] }

// record draws a record. It may be another peer's, have no envelope, or name a peer without a summary.
func (c *Chaos) record() wire.Record {
	p := c.peer()
	switch c.n(8) {
	case 0:
		return wire.Record{Peer: p, Envelope: Record(c.peer())}
	case 1:
		return wire.Record{Peer: p}
	case 2: // a peer from a large set, none of which has a summary
		p = wire.PeerID(fmt.Sprint("s", c.n(256)))
	}
	return wire.Record{Peer: p, Envelope: Record(p)}
}

// Next returns the time to let pass, and the input to give after it. It returns false when the bytes are used up.
func (c *Chaos) Next() (passes time.Duration, in event.Input, ok bool) {
	if len(c.data) == 0 {
		return 0, nil, false
	}
	switch c.n(32) {
	case 0:
		passes = time.Duration(c.n(256)) * time.Minute
	case 1, 2:
		passes = time.Duration(c.n(256)) * time.Second
	case 3, 4, 5, 6, 7, 8, 9, 10, 11, 12:
		passes = time.Duration(c.n(256)) * 5 * time.Millisecond
	}
	if len(c.asked) > 0 && c.n(4) > 0 {
		in, c.asked = c.asked[0], c.asked[1:]
		return passes, in, true
	}
	return passes, c.input(), true
}

// input draws an input: a message of a peer, an event of its link, or a new epoch of the overlay's own summary.
func (c *Chaos) input() event.Input {
	p := c.peer()
	switch c.n(32) {
	case 0, 1, 2, 3:
		return event.LinkOpened{Peer: p, Outbound: c.n(2) > 0}
	case 4:
		return event.LinkClosed{Peer: p}
	case 5, 6:
		return event.Meshed{Peer: p, In: true}
	case 7:
		return event.Meshed{Peer: p}
	case 8, 9, 10:
		return c.hello(p)
	case 11:
		if c.n(2) == 0 {
			return event.LinkRefused{Peer: p, Names: c.names()}
		}
		return c.asks(p, c.hello(p).Hello)
	case 12, 13, 14, 15, 16:
		return c.catalogue(p)
	case 17, 18, 19, 20:
		return c.parts(p)
	case 21:
		return c.asks(p, wire.PartsRequest{Group: c.Origin().Group(), First: c.n(4), End: c.n(6), Given: c.given()})
	case 22:
		return answered(p, wire.PartsRequest{Group: c.group()}, nil)
	case 23:
		return event.DialFailed{Peer: p, Here: c.n(4) == 0}
	case 24:
		return event.Outcome{Peer: p, Hits: c.n(20), Misses: c.n(20)}
	case 25:
		return []event.Input{
			event.Lost{Peer: p}, event.Charged{Peer: p, Bytes: 100 * c.n(256)}, event.RoundTrip{Peer: p, RTT: time.Duration(c.n(256)) * time.Millisecond},
		}[c.n(3)]
	case 26:
		return c.inquiry(p)
	case 27:
		return answered(p, wire.Inquiry{}, c.names())
	case 28:
		none := answered(p, wire.Inquiry{}, nil)
		none.Here = c.n(2) > 0
		return none
	case 29:
		if c.n(2) == 0 {
			return event.ContactsWanted{Search: uint64(c.n(3)), Ask: c.n(5)}
		}
		return event.ContactAnswered{Peer: p, Depth: c.depth(), Proved: c.n(2) > 0, Denied: c.n(2) > 0, Failed: c.n(4) == 0}
	case 30:
		return c.published()
	}
	return event.Tick{}
}

// asks returns the input that carries a peer's question.
func (c *Chaos) asks(p wire.PeerID, q wire.Message) event.Input {
	return event.Asked{From: p, Request: uint64(c.n(8)), Question: q}
}

// answered returns the input that carries a peer's answer to a question. If a is nil, no answer comes.
func answered(p wire.PeerID, q, a wire.Message) event.Answered {
	return event.Answered{Ask: event.Ask{To: wire.Record{Peer: p}, Question: q}, Answer: a}
}

func (c *Chaos) hello(p wire.PeerID) event.HelloReceived {
	h := wire.Hello{
		Up: uint64(c.n(4)) * 256_000, Down: uint64(c.n(4)) * 1_000_000, Measured: uint64(c.n(2)) * 100_000, FalseMatches: float64(c.n(9)),
		Origins: c.n(40), Neighbour: c.n(2) > 0, Full: c.n(4) == 0, Again: c.n(8) == 0, Session: uint64(c.n(3)), Tails: c.n(4) > 0, Depth: c.depth(),
		Network: []int{0, 3, 20, 1 << 30}[c.n(4)],
	}
	for range c.n(20) {
		h.Records = append(h.Records, c.record())
	}
	return event.HelloReceived{Peer: p, Hello: h}
}

// group returns the name of an epoch of an origin. The epoch may not exist, and the origin may be made up.
func (c *Chaos) group() wire.GroupID {
	switch c.n(8) {
	case 0:
		c.made++
		return wire.NewGroup(wire.Tag(chaosSeeds[0].Tag(), "self")^c.made<<uint(c.n(64)), c.epoch())
	case 1:
		return wire.NewGroup(wire.Tag(chaosSeeds[c.n(3)].Tag(), string(c.peer())), c.epoch())
	}
	return c.Origin().Group()
}

// given returns the base that an ask names, or none. The peer may not hold the base.
func (c *Chaos) given() (g wire.Given) {
	if c.n(2) == 0 {
		g = wire.Given{Group: c.group(), Parts: uint16(c.n(5))}
	}
	return g
}

func (c *Chaos) catalogue(p wire.PeerID) event.Input {
	var items []wire.Item
	for range 1 + c.n(16) {
		it := wire.Item{Group: c.group(), Have: uint16(c.n(5))}
		if c.n(3) == 0 {
			it.Want, it.Given = it.Have+uint16(c.n(4)), c.given()
		}
		items = append(items, it)
	}
	return event.CatalogueReceived{From: p, Items: items, Bytes: exchange.Cost(wire.Catalogue(items))}
}

// parts returns some parts, or a delta. The overlay may not have asked for them, and they may be spoiled.
func (c *Chaos) parts(p wire.PeerID) event.Input {
	o := c.Origin()
	in := o.Sent(p, c.n(o.Parts()), o.Parts())
	in.Transport = []event.Transport{event.Pubsub, event.Direct}[c.n(2)]
	switch c.n(12) {
	case 0:
		in.Run.Parts = append([][]byte{bytes.Clone(in.Run.Parts[0])}, in.Run.Parts[1:]...)
		in.Run.Parts[0][len(in.Run.Parts[0])/2] ^= 1
	case 1:
		in.Run.Next[0] ^= 1
	case 2:
		in.Envelope = []byte("forged")
	case 3:
		in.Record = Record(c.peer())
	case 4:
		in.Group = c.group()
	case 5:
		in.Run = summary.Run{}
	case 6:
		in.Envelope, in.Record = nil, nil
	case 7, 8: // a delta from an earlier epoch, perhaps spoiled
		if old := c.before(o); old != nil {
			in.Run = summary.Run{}
			parts := 1 + c.n(min(old.Parts(), o.Parts()))
			r, _ := o.Stream.RunRelative(0, parts, old.Stream, parts)
			in.Delta = r.Bytes
			in.Envelope, in.Record = o.Envelope, o.Record
			if c.n(3) == 0 && len(in.Delta) > 0 {
				in.Delta[len(in.Delta)-1] ^= 1
			}
		}
	}
	return in
}

// before returns the summary of an earlier epoch of the same origin, under the same seed; nil if there is none.
func (c *Chaos) before(o *Origin) *Origin {
	h := o.Stream.Header()
	for i := range c.origins {
		if b := &c.origins[i]; b.ID == o.ID && b.Stream.Header().Seed == h.Seed && h.Epoch.After(b.Stream.Header().Epoch) {
			return b
		}
	}
	return nil
}

// inquiry draws an inquiry of a peer. Its Lacks and Own may break the rules of package wire.
func (c *Chaos) inquiry(p wire.PeerID) event.Input {
	q := wire.Inquiry{Depth: c.depth(), Near: c.n(2) > 0, Nearer: c.n(2) > 0, Least: uint16(c.n(4)) << 12}
	if c.n(2) > 0 {
		q.Meet = c.peer().Place() << uint(c.n(64))
	}
	for range c.n(4) {
		q.Lacks = append(q.Lacks, byte(c.n(256)))
	}
	for range c.n(5) {
		q.Known = append(q.Known, wire.KnownOrigin{Place: uint32(c.peer().Place() >> 32), Sequence: uint16(c.n(5))})
	}
	for range c.n(3) {
		q.Own = append(q.Own, c.introduction())
	}
	return c.asks(p, q)
}

func (c *Chaos) introduction() wire.Parts {
	o := c.Origin()
	in := o.Sent("", 0, min(1+c.n(3), o.Parts()))
	return wire.Parts{Envelope: in.Envelope, Record: in.Record, Run: in.Run}
}

func (c *Chaos) names() wire.Names {
	n := wire.Names{Depth: c.depth()}
	for range c.n(20) {
		n.Peers = append(n.Peers, wire.Named{Record: c.record(), Depth: c.depth()})
	}
	for range c.n(4) {
		n.Introductions = append(n.Introductions, c.introduction())
	}
	return n
}

func (c *Chaos) published() event.Input {
	o := NewOrigin("self", Fingerprints(50, 10, uint64(c.n(4))), summary.Header{
		Seed: chaosSeeds[c.n(2)].Tag(), Epoch: summary.Epoch{Generation: 2, Sequence: uint32(c.made) + uint32(len(c.data))},
	})
	return event.Published{Envelope: o.Envelope, Record: o.Record, Stream: o.Stream}
}

// Saw reads the overlay's effects, and queues the answers of honest peers to some of them.
func (c *Chaos) Saw(effects []event.Effect) {
	for _, e := range effects {
		if len(c.asked) >= 16 {
			return
		}
		switch e := e.(type) {
		case event.SendCatalogue:
			for _, it := range e.Items {
				if in, ok := c.held(e.To, it.Group, int(it.Have), int(it.Want)); ok {
					c.asked = append(c.asked, in)
				}
			}
		case event.Ask:
			c.asked = append(c.asked, c.answerTo(e))
		case event.Connect:
			c.asked = append(c.asked, event.LinkOpened{Peer: e.To.Peer, Outbound: true})
		case event.Disconnect:
			c.asked = append(c.asked, event.LinkClosed(e))
		}
	}
}

// answerTo returns a peer's answer to a question of the overlay. Parts are honest; names are drawn.
func (c *Chaos) answerTo(e event.Ask) event.Input {
	q, parts := e.Question.(wire.PartsRequest)
	if !parts {
		return event.Answered{Ask: e, Answer: c.names()}
	}
	in, ok := c.held(e.To.Peer, q.Group, q.First, q.End)
	if !ok {
		return event.Answered{Ask: e}
	}
	return event.Answered{Ask: e, Answer: in.Parts, Bytes: in.Bytes}
}

// held returns the parts of a group that an honest peer sends by pubsub. ok is false if there is no such group or
// part.
func (c *Chaos) held(from wire.PeerID, g wire.GroupID, first, end int) (in event.PartsReceived, ok bool) {
	for i := range c.origins {
		if o := &c.origins[i]; o.Group() == g && first < min(end, o.Parts()) {
			return o.Sent(from, first, min(end, o.Parts())), true
		}
	}
	return in, false
}
