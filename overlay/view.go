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

// Candidate is a peer that may hold a key, with the values that a query weighs.
type Candidate struct {
	Peer         wire.PeerID
	Record       wire.Record
	Rate         float64 // false-positive rate of the prefix held of its summary
	N            int     // size of its collection
	Hits, Misses int     // earlier confirmations with and without the key; they fade
	RTT          time.Duration
	Connected    bool
}

// Candidates returns the peers whose held prefix contains a key, in the order of the directory. f is the key's
// fingerprint under [Config.Seed]; the key itself is hashed again for summaries under [Config.Previous], if there may
// be any. Peers of which no part is held are not included. Package index states the cost; with [Config.Cache] it is one
// lookup in every prefix held.
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
			Hits: hits, Misses: misses, RTT: e.RTT(), Connected: o.directory.IsLinked(e.Peer()),
		}
	}
	return out
}

// Ignored returns the number of catalogue items ignored so far, for lack of room for origins that nobody vouches for.
func (o *Overlay) Ignored() int { return o.directory.Ignored() }

// FalseMatches returns the expected number of peers that match a key nobody holds: the sum of the false-positive rates
// of all peers known. A peer with no part held counts 1 if a summary was announced.
func (o *Overlay) FalseMatches() float64 { return o.directory.FalseMatches() }

// Memory returns about the number of bytes that the directory takes: entries, prefixes (parts and decoded form), index,
// and the visitors of a meeting place.
func (o *Overlay) Memory() int { return o.directory.Memory() }

// Incomplete reports whether the directory or a linked peer knows of peers of whose summary no part is held here.
func (o *Overlay) Incomplete() bool {
	return o.directory.Incomplete() || o.region.Depth() == 0 && o.exchange.OriginsSaid() > o.directory.Origins()
}

// Settled reports whether this peer knows all peers that its links know, with their summaries, and vouches for its
// range.
func (o *Overlay) Settled() bool { return !o.Incomplete() && o.Vouched() <= o.region.Depth() }

// Origins returns the number of peers of which at least a part is held.
func (o *Overlay) Origins() int { return o.directory.Origins() }

// Unrotated returns the number of peers known only by a summary under the previous seed.
func (o *Overlay) Unrotated() int { return o.directory.Unrotated() }

// OtherSeeds returns the number of linked peers whose summaries are under a seed that is neither the current one nor,
// during a rotation, the previous one.
func (o *Overlay) OtherSeeds() (n int) {
	for _, l := range o.directory.Links() {
		previous := o.now < o.cfg.PreviousUntil && l.Hello.Seed == o.cfg.Previous.Number
		if l.Heard && l.Hello.Seed != o.cfg.Seed.Number && !previous {
			n++
		}
	}
	return n
}

// Knowledge is a linked peer and its claims about its directory.
type Knowledge struct {
	Peer         wire.PeerID
	Origins      int     // peers of which the linked peer claims to hold at least a sample
	FalseMatches float64 // its claimed expected number of false matches of a query
}

// Knowledge returns the claims of the linked peers that have said hello, in the order of their ids.
func (o *Overlay) Knowledge() (out []Knowledge) {
	for _, l := range o.directory.Links() {
		if l.Heard {
			out = append(out, Knowledge{l.Peer, l.Hello.Origins, l.Hello.FalseMatches})
		}
	}
	return out
}

// Linked returns the peers with an open connection, sorted.
func (o *Overlay) Linked() []wire.PeerID {
	links := o.directory.Links()
	out := make([]wire.PeerID, len(links))
	for i, l := range links {
		out[i] = l.Peer
	}
	return out
}

// IsLinked reports whether there is an open connection with a peer.
func (o *Overlay) IsLinked(p wire.PeerID) bool { return o.directory.IsLinked(p) }

// Links returns the number of linked peers.
func (o *Overlay) Links() int { return len(o.directory.Links()) }

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

// Alike is a peer and the estimated part of our collection that it holds.
type Alike struct {
	Peer    wire.PeerID
	Overlap estimate.Interval // at directory.Confidence
	Keys    int               // number of keys that it holds in all
}

// Similar returns the peers that hold the most of our collection, of all whose summaries are known: the most similar
// first, at most n. Where the directory cannot hold everybody, gossip finds similar peers.
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

// Vouched returns the depth of the widest range around this peer that it can vouch for. It knows all origins of that
// range that it heard of, and not far fewer origins than it expects there.
func (o *Overlay) Vouched() int { return o.region.Vouched() }

// Covers returns the range that this peer can vouch for.
func (o *Overlay) Covers() space.Range { return space.Around(o.cfg.Self.Place(), o.Vouched()) }

// Precise returns the widest range around this peer that it can vouch for and in which few false matches are expected.
func (o *Overlay) Precise() space.Range { return o.region.Precise() }

// Contacts returns the peers that can be asked about other ranges, in a fixed order; none at depth 0. First come the
// contacts of the table. Then comes one spare peer, if known, of each half of a range, or of each smaller part where
// most peers cover less. It counts for that part: contacts of the table may be gone, cover less than they claim, or lie
// all in one half of a range.
func (o *Overlay) Contacts() []region.Contact { return o.region.Contacts() }

// Peers returns the known peers, in a fixed order, each to be asked about a range as wide as our focus around its
// place. It returns none where lines carry enough of everybody's summary.
func (o *Overlay) Peers() []region.Contact { return o.region.FocusPeers() }

// Own returns this node's own summary, nil before the first [Published].
func (o *Overlay) Own() *summary.Prefix { return o.directory.Own().Held() }

// Neighbour is a peer that this node keeps a connection with.
type Neighbour struct {
	Peer    wire.PeerID
	Kind    topology.Kind
	Overlap estimate.Interval // estimated part of our collection that it holds; zero if not known
}

// IsNeighbour reports whether a peer is a neighbour, or about to be one.
func (o *Overlay) IsNeighbour(p wire.PeerID) bool { return o.topology.IsNeighbour(p) }

// Neighbours returns the neighbours in the order of their ids.
func (o *Overlay) Neighbours() []Neighbour {
	var out []Neighbour
	for _, l := range o.directory.Links() {
		kind, ok := o.topology.KindOf(l.Peer)
		if !ok {
			continue
		}
		nb := Neighbour{Peer: l.Peer, Kind: kind}
		if e := o.directory.Lookup(l.Peer); e != nil {
			nb.Overlap = e.Overlap()
		}
		out = append(out, nb)
	}
	return out
}

// Depth is the amount held of one peer's summary.
type Depth struct {
	Peer  wire.PeerID
	Parts int
	Bytes int
	Rate  float64 // false-positive rate
}

// Records returns the records of peers of which a part is held, among at most n entries of the directory, the first at
// index from. next is the index at which to continue; 0: there are no more entries. It takes time in proportion to n.
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

// Directory returns the amount held of every peer known, in the order of the directory.
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

// Totals returns the number of peers of which a part is held, and the parts and bytes held in all.
func (o *Overlay) Totals() (peers, parts, bytes int) {
	for _, e := range o.directory.Others() {
		if e != nil && e.Held() != nil && !e.Covered() {
			peers, parts, bytes = peers+1, parts+e.Held().Parts(), bytes+e.Held().EncodedBytes()
		}
	}
	return peers, parts, bytes
}

// DirectoryBytes returns the encoded size of all that is kept about other peers: the parts held of their summaries,
// signed headers and records, including those of contacts. It takes time in proportion to the entries.
func (o *Overlay) DirectoryBytes() int {
	return o.directory.EncodedBytes() + o.region.ContactBytes()
}

// Budgets returns the budgets at a time that is not before the last Step, links in the order of their peers.
func (o *Overlay) Budgets(now time.Duration) exchange.Budgets { return o.exchange.Budgets(now) }

// LineOut returns the rate of summaries that our own line may send, in bytes a second.
func (o *Overlay) LineOut() float64 { return o.exchange.LineOut() }

// Room returns the number of bytes that may go to a linked peer now, at a time that is not before the last Step. It is
// below 0 after a message that was larger than a burst.
func (o *Overlay) Room(now time.Duration, p wire.PeerID) int { return o.exchange.Room(now, p) }

// Rates returns the rates of summaries on a link, to a peer and from it, in bytes a second; 0 until it has said hello.
func (o *Overlay) Rates(p wire.PeerID) (out, in float64) { return o.exchange.Rates(p) }
