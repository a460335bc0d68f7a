package overlay

import (
	"slices"
	"time"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/estimate"
)

// Candidate is a peer that may hold a key, with what a query weighs.
type Candidate struct {
	Peer         PeerID
	Record       Record
	Rate         float64 // false-positive rate of what is held of its summary
	N            int     // size of its collection
	Hits, Misses int     // of earlier confirmations; they fade
	RTT          time.Duration
	Connected    bool
}

// Candidates returns the peers whose held prefix contains a key, in the order of the directory. f is the key's fingerprint
// under [Config.Seed]; the key itself is hashed anew for summaries under [Config.Previous], if there may be any. A peer of
// which no part is held is not among them. What it costs package index says; with [Config.Loop], one look into every prefix
// held.
func (o *Overlay) Candidates(key []byte, f summary.Fingerprint) []Candidate {
	o.found = o.found[:0]
	var old summary.Fingerprint
	if o.previous != nil {
		old = o.previous.hasher.Fingerprint(key)
	}
	if o.cfg.Loop {
		o.loop(f, old)
	} else {
		o.found = o.index.Candidates(o.found, f)
		if o.previous != nil {
			o.found = o.previous.index.Candidates(o.found, old)
			slices.Sort(o.found)
		}
	}
	if len(o.found) == 0 {
		return nil
	}
	out := make([]Candidate, len(o.found))
	for i, at := range o.found {
		e := o.entries[at]
		_, connected := o.links[e.peer]
		out[i] = Candidate{
			Peer: e.peer, Record: e.record, Rate: e.cur.Rate(), N: e.cur.Header().N,
			Hits: e.hits, Misses: e.misses, RTT: e.rtt, Connected: connected,
		}
	}
	return out
}

// loop finds the candidates for a key by asking every prefix; old is the key's fingerprint under the previous seed.
func (o *Overlay) loop(f, old summary.Fingerprint) {
	for _, e := range o.others() {
		if e == nil || e.cur == nil {
			continue
		}
		f := f
		if e.old {
			f = old
		}
		if e.cur.Contains(f) && !o.covered(e) {
			o.found = append(o.found, e.index)
		}
	}
}

// Ignored is how many lines of catalogues were not taken in so far, for want of room for origins that nobody vouches for.
func (o *Overlay) Ignored() int { return o.dropped }

// FalseMatches returns the expected number of peers that a query for a key nobody holds would match: the sum of the
// false-positive rates of all peers known, 1 for those of which no part is held.
func (o *Overlay) FalseMatches() float64 {
	if o.sigma == unknownSigma {
		o.sigma = 0
		for _, e := range o.others() {
			if e != nil && !e.gone() && !o.covered(e) {
				o.sigma += e.rate()
			}
		}
	}
	return o.sigma
}

// Memory returns about how many bytes the directory takes: the entries, the prefixes (parts and decoded form), and the
// index.
func (o *Overlay) Memory() int { return o.used() }

// Incomplete says whether there are peers that the directory knows of, or a linked peer knows of, without a part of their
// summary.
func (o *Overlay) Incomplete() bool {
	for _, e := range o.others() {
		if e != nil && e.cur == nil && !e.gone() && e.dialFails == 0 && !o.covered(e) {
			return true
		}
	}
	for _, l := range o.order {
		if l.hello.Origins > o.origins {
			return true
		}
	}
	return false
}

// Origins returns of how many peers at least a part is held.
func (o *Overlay) Origins() int { return o.origins }

// Informant is a linked peer, and what it says of its directory.
type Informant struct {
	Peer         PeerID
	Origins      int     // peers of which it says to hold at least a sample
	FalseMatches float64 // that it expects of a query
}

// Informants returns the linked peers that have said hello, in the order of their ids.
func (o *Overlay) Informants() []Informant {
	var out []Informant
	for _, l := range o.order {
		if l.heard {
			out = append(out, Informant{l.peer, l.hello.Origins, l.hello.FalseMatches})
		}
	}
	return out
}

// Linked returns the peers with an open connection, sorted.
func (o *Overlay) Linked() []PeerID {
	out := make([]PeerID, len(o.order))
	for i, l := range o.order {
		out[i] = l.peer
	}
	return out
}

// Record returns the certified addresses of a peer.
func (o *Overlay) Record(p PeerID) (Record, bool) {
	e, ok := o.lookup(p)
	if !ok || e.record.Envelope == nil {
		return Record{}, false
	}
	return e.record, true
}

// Held returns the prefix that answers queries about a peer.
func (o *Overlay) Held(p PeerID) (*summary.Prefix, bool) {
	e, ok := o.lookup(p)
	if !ok || e.cur == nil {
		return nil, false
	}
	return e.cur, true
}

// Own returns this node's own summary, nil before the first [Published].
func (o *Overlay) Own() *summary.Prefix { return o.entries[0].cur }

// Neighbour is a peer that this node keeps a connection with.
type Neighbour struct {
	Peer  PeerID
	Kind  Kind
	Share estimate.Interval // of our collection that it holds, as estimated; zero when not known
}

// Neighbours returns the neighbours in the order of their ids.
func (o *Overlay) Neighbours() []Neighbour {
	out := make([]Neighbour, 0, len(o.neighbours))
	for _, l := range o.order {
		n, ok := o.neighbours[l.peer]
		if !ok {
			continue
		}
		nb := Neighbour{Peer: l.peer, Kind: n.kind}
		if e, ok := o.lookup(l.peer); ok {
			nb.Share = e.share.interval()
		}
		out = append(out, nb)
	}
	return out
}

// Depth is how much is held of one peer's summary.
type Depth struct {
	Peer  PeerID
	Parts int
	Bytes int
	Rate  float64
}

// Directory returns how much is held of every peer known, in the order of the directory.
func (o *Overlay) Directory() []Depth {
	var out []Depth
	for _, e := range o.others() {
		if e != nil && e.cur != nil && !o.covered(e) {
			out = append(out, Depth{Peer: e.peer, Parts: e.cur.Parts(), Bytes: e.cur.Bytes(), Rate: e.cur.Rate()})
		}
	}
	return out
}
