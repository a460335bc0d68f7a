package overlay

import (
	"cmp"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/region"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/topology"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/estimate"
)

// Candidate is a peer that may hold a key, with what a query weighs.
type Candidate struct {
	Peer         wire.PeerID
	Record       wire.Record
	Rate         float64 // false-positive rate of what is held of its summary
	N            int     // size of its collection
	Hits, Misses int     // of earlier confirmations; they fade
	RTT          time.Duration
	Connected    bool
}

// Candidates returns the peers whose held prefix contains a key, in the order of the directory. f is the key's
// fingerprint under [Config.Seed]; the key itself is hashed again for summaries under [Config.Previous], if there may
// be any. A peer that no part is held of is not among them. What it costs package index says; with [Config.Loop], one
// look into every prefix held.
func (o *Overlay) Candidates(key []byte, f summary.Fingerprint) []Candidate {
	found := o.directory.Candidates(key, f)
	if len(found) == 0 {
		return nil
	}
	out := make([]Candidate, len(found))
	for i, e := range found {
		hits, misses := e.Answers()
		out[i] = Candidate{
			Peer: e.Peer(), Record: e.Record(), Rate: e.Rate(), N: e.Held().Plan().N,
			Hits: hits, Misses: misses, RTT: e.RTT(), Connected: o.exchange.IsLinked(e.Peer()),
		}
	}
	return out
}

// Ignored returns how many lines of catalogues were not taken in so far, because there was no room for origins that
// nobody vouches for.
func (o *Overlay) Ignored() int { return o.directory.Ignored() }

// FalseMatches returns the expected number of peers that a query for a key nobody holds would match. It is the sum of
// the false-positive rates of all peers known. A peer with no part held counts 1 if it is said to have published.
func (o *Overlay) FalseMatches() float64 { return o.directory.FalseMatches() }

// Memory returns about how many bytes the directory takes: the entries, the prefixes (parts and decoded form), the
// index, and the visitors of a meeting place.
func (o *Overlay) Memory() int { return o.directory.Memory() }

// Incomplete says whether there are peers that the directory knows of, or a linked peer knows of, without a part of
// their summary.
func (o *Overlay) Incomplete() bool {
	return o.directory.Incomplete() || o.region.Depth() == 0 && o.exchange.OriginsSaid() > o.directory.Origins()
}

// Settled reports whether this peer knows whom its links know: it lacks nobody's summary, and vouches for its range.
func (o *Overlay) Settled() bool { return !o.Incomplete() && o.Vouched() <= o.region.Depth() }

// Origins returns the number of peers that at least a part is held of.
func (o *Overlay) Origins() int { return o.directory.Origins() }

// Unrotated returns of how many peers there is no summary under the current seed, but one under the previous.
func (o *Overlay) Unrotated() int { return o.directory.Unrotated() }

// Reads returns the newest format that may be written to a linked peer.
func (o *Overlay) Reads(p wire.PeerID) wire.Format { return o.exchange.Reads(p) }

// AllRead reports whether all linked peers that have said hello, of which there is one at least, read the newest format.
func (o *Overlay) AllRead() bool { return o.exchange.AllRead() }

// OtherSeeds returns the number of linked peers whose summaries are under a seed that is neither the current one nor, while
// the network rotates it, the previous one.
func (o *Overlay) OtherSeeds() (n int) {
	for _, p := range o.exchange.Linked() {
		h, said := o.exchange.Said(p)
		previous := o.now < o.cfg.PreviousUntil && h.Seed == o.cfg.Previous.Number
		if said && h.Seed != o.cfg.Seed.Number && !previous {
			n++
		}
	}
	return n
}

// Knowledge is a linked peer, and what it says of its directory.
type Knowledge = exchange.Knowledge

// Knowledge returns the linked peers that have said hello, in the order of their ids.
func (o *Overlay) Knowledge() []Knowledge { return o.exchange.Knowledge() }

// Linked returns the peers with an open connection, sorted.
func (o *Overlay) Linked() []wire.PeerID { return o.exchange.Linked() }

// Links is how many peers are linked.
func (o *Overlay) Links() int { return o.exchange.Links() }

// Record returns the certified addresses of a peer.
func (o *Overlay) Record(p wire.PeerID) (wire.Record, bool) { return o.directory.RecordOf(p) }

// Held returns the prefix that answers queries about a peer.
func (o *Overlay) Held(p wire.PeerID) (*summary.Prefix, bool) {
	e := o.directory.Lookup(p)
	if e == nil || e.Held() == nil {
		return nil, false
	}
	return e.Held(), true
}

// Alike is a peer and how much of our collection it holds, as estimated.
type Alike struct {
	Peer    wire.PeerID
	Overlap estimate.Interval // at [Confidence]
	Keys    int               // that it holds in all
}

// Similar returns the peers that hold the most of our collection, of all whose summaries are known: the most similar
// first, at most n. Where the directory cannot hold everybody, gossip brings the similar.
func (o *Overlay) Similar(n int) []Alike {
	var out []Alike
	for _, e := range o.directory.Others() {
		if e != nil && e.Held() != nil && e.Judged() && !e.Covered() {
			out = append(out, Alike{e.Peer(), e.Overlap(), e.Held().Header().N})
		}
	}
	slices.SortFunc(out, func(a, b Alike) int {
		return cmp.Or(cmp.Compare(b.Overlap.Value, a.Overlap.Value), cmp.Compare(a.Peer, b.Peer))
	})
	return out[:min(len(out), n)]
}

// Vouched is the depth of the widest range around this peer for which it can vouch. All origins of that range that it
// heard of are known, and they are not far fewer than there should be.
func (o *Overlay) Vouched() int { return o.region.Vouched() }

// Covers is the range for which this peer can vouch.
func (o *Overlay) Covers() space.Range { return space.Around(PlaceOf(o.cfg.Self), o.Vouched()) }

// Precise returns the widest range around this peer that it can vouch for and in which few false matches are expected.
func (o *Overlay) Precise() space.Range { return o.region.Precise() }

// Contacts are the peers that can be asked about other ranges, in a fixed order. None at depth 0. After those chosen
// for it comes one other peer of each half of a range, if one is known, or of each smaller part where most peers cover
// less. It counts for that part, and is asked for what those chosen leave over. Contacts that turn out deeper than they
// were said to be may all be of one half. Last come the peers like us beyond our range, the most similar first: of those
// a search asks a few before others.
func (o *Overlay) Contacts() []region.Contact { return o.region.Contacts() }

// Peers are the known peers to ask about a range as wide as our focus around their places, in a fixed order. There are
// none where lines carry enough of everybody's summary.
func (o *Overlay) Peers() []region.Contact { return o.region.FocusPeers() }

// Own returns this node's own summary, nil before the first [Published].
func (o *Overlay) Own() *summary.Prefix { return o.directory.Own().Held() }

// Kind says why a peer is a neighbour.
type Kind = topology.Kind

// The kinds of neighbours; package topology documents each.
const (
	Random  = topology.Random
	Similar = topology.Similar
	Near    = topology.Near
	Inbound = topology.Inbound
)

// Neighbour is a peer that this node keeps a connection with.
type Neighbour struct {
	Peer    wire.PeerID
	Kind    Kind
	Overlap estimate.Interval // of our collection that it holds, as estimated; zero when not known
}

// IsNeighbour reports whether a peer is a neighbour, or about to be one.
func (o *Overlay) IsNeighbour(p wire.PeerID) bool { return o.topology.IsNeighbour(p) }

// Neighbours returns the neighbours in the order of their ids.
func (o *Overlay) Neighbours() []Neighbour {
	var out []Neighbour
	for _, p := range o.exchange.Linked() {
		kind, ok := o.topology.KindOf(p)
		if !ok {
			continue
		}
		nb := Neighbour{Peer: p, Kind: kind}
		if e := o.directory.Lookup(p); e != nil {
			nb.Overlap = e.Overlap()
		}
		out = append(out, nb)
	}
	return out
}

// Depth is how much is held of one peer's summary.
type Depth struct {
	Peer  wire.PeerID
	Parts int
	Bytes int
	Rate  float64
}

// Records returns the records of those peers, out of at most n entries of the directory from one on, of which a part is
// held, too; and the entry to go on from, 0 if there are no more. It takes time in proportion to n.
func (o *Overlay) Records(from, n int) (some []wire.Record, next int) {
	all := o.directory.Others()
	from = min(from, len(all))
	end := min(from+n, len(all))
	for _, e := range all[from:end] {
		if e != nil && e.Held() != nil && !e.Covered() && e.Record().Envelope != nil {
			some = append(some, e.Record())
		}
	}
	if end == len(all) {
		return some, 0
	}
	return some, end
}

// Directory returns how much is held of every peer known, in the order of the directory.
func (o *Overlay) Directory() []Depth {
	var out []Depth
	for _, e := range o.directory.Others() {
		if e == nil || e.Held() == nil || e.Covered() {
			continue
		}
		p := e.Held()
		out = append(out, Depth{Peer: e.Peer(), Parts: p.Parts(), Bytes: p.EncodedBytes(), Rate: p.FalsePositiveRate()})
	}
	return out
}

// Totals returns of how many peers a part is held, and how many parts and bytes these are together.
func (o *Overlay) Totals() (peers, parts, bytes int) {
	for _, e := range o.directory.Others() {
		if e != nil && e.Held() != nil && !e.Covered() {
			peers, parts, bytes = peers+1, parts+e.Held().Parts(), bytes+e.Held().EncodedBytes()
		}
	}
	return peers, parts, bytes
}

// DirectoryBytes is the size of what is kept about other peers, in the form in which it came. It counts the parts held
// of their summaries, signed headers and records, those of contacts included. It takes time in proportion to the
// entries.
func (o *Overlay) DirectoryBytes() int {
	return o.directory.EncodedBytes() + o.region.ContactBytes()
}

// LinkBudget is what a link carries for summaries.
type LinkBudget = exchange.LinkBudget

// Budgets is what lines and links carry for summaries, and what they have carried.
type Budgets = exchange.Budgets

// Budgets returns the budgets at a time that is not before the last Step, links in the order of their peers.
func (o *Overlay) Budgets(now time.Duration) Budgets { return o.exchange.Budgets(now) }

// LineOut is how many bytes a second of summaries the own line bears outwards.
func (o *Overlay) LineOut() float64 { return o.exchange.LineOut() }

// Room is how many bytes may go to a linked peer now, at a time that is not before the last Step. It is below 0 after a
// message that was larger than a burst.
func (o *Overlay) Room(now time.Duration, p wire.PeerID) int { return o.exchange.Room(now, p) }

// Rates returns how many bytes a second of summaries a link bears to a peer and from it; 0 until it has said hello.
func (o *Overlay) Rates(p wire.PeerID) (out, in float64) { return o.exchange.Rates(p) }

// Burst is how many bytes a line of the given rate may send at once after a pause. It is one second's worth, and at
// least 16 KiB so that a slow line can carry a message at all.
func Burst(bytesPerSecond float64) float64 { return exchange.Burst(bytesPerSecond) }

// LinkRate is the rate of summaries, in bytes a second, from a line that sends up bit/s to one that receives down
// bit/s. It is the given share of the slower end.
func LinkRate(up, down uint64, share float64) float64 { return exchange.LinkRate(up, down, share) }

// PlaceOf returns where a peer stands among all: see package space.
func PlaceOf(p wire.PeerID) space.Place { return exchange.PlaceOf(p) }

// Cost returns how many bytes a message counts against a budget.
func Cost(m wire.Message) int { return exchange.Cost(m) }
