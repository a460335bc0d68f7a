package node

import (
	"cmp"
	"context"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/internal/counters"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/topology"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/estimate"
)

// Figures has the part of a Status that the HTTP API serves as it is.
type Figures struct {
	Connections  int     `json:"connections"`          // peers connected now to the host, for whatever purpose
	Links        int     `json:"peers"`                // peers with which hello was said
	OtherSeed    int     `json:"other_seed,omitempty"` // linked peers whose summaries are under a seed that this node does not understand
	Origins      int     `json:"summaries"`            // others whose summary is held
	Unrotated    int     `json:"unrotated,omitempty"`  // number of these known only under the previous seed
	BytesHeld    int     `json:"summary_bytes"`        // size on the wire of the parts held of others' summaries
	Covered      float64 `json:"covered"`              // share of the network, 0 to 1, by places, in which the node can vouch to know everybody; 0: it knows of nobody
	Range        string  `json:"range,omitempty"`      // range that Covered measures: the first bits of its places, or "all"; "": none
	Contacts     int     `json:"contacts"`             // peers that a search can ask about the rest; 0 where there is none
	FalseMatches float64 `json:"false_matches"`        // expected matches of a key that nobody holds: the sum of the summaries' false-positive rates
	PubsubBytes  int     `json:"pubsub_bytes"`         // bytes of parts learned so far by pubsub, replaced ones too
	DirectBytes  int     `json:"direct_bytes"`         // the same by direct fetch
}

// Status is the state of a node, with its counts.
type Status struct {
	Figures

	Keys  int           // keys held, without private ones
	Epoch summary.Epoch // epoch of the own summary; Sequence 0: there is none yet
	Made  int           // connections that this node made, or on which it wanted the link
	Taken int           // other links
	Peak  int           // largest sum of Made and Taken at one time

	PartsHeld   int // parts of others' summaries held
	Deltas      int // newer epochs learned so far by deltas
	DeltaBytes  int // bytes of these deltas, with headers
	SparedBytes int // bytes of the parts that deltas replaced
	Fallbacks   int // newer epochs of peers known before that began with parts, because there was no delta
	Epochs      int // own summaries published so far
	Ignored     int // items of others' catalogues ignored because there was no room

	LineOut, LineIn            float64 // bytes a second that the node's own line bears for summaries
	BudgetSent, BudgetReceived uint64  // bytes so far that counted against the budgets for summaries
	Announced                  uint64  // the part of BudgetReceived that is announcements
	TailBytes                  uint64  // bytes sent so far in messages of tails

	Bootstrap map[peer.ID]error // why there is no link with a peer of WithBootstrap: ErrFull, ErrNetwork, ErrSilent, ErrUntried; nil: there is

	Fault string // why the key store fails, or the newest summary could not be made; "": neither is so

	Refused map[string]uint64  // messages refused, by reason
	Blamed  map[peer.ID]uint64 // messages refused, by the peers that caused them, of the 4,096 counted last
	Dropped map[string]uint64  // messages dropped, by the queue that was full
}

// Status returns the state of the node. It takes one turn of the loop, and time linear in the links. The errors:
// ErrClosed, ctx's.
func (n *Node) Status(ctx context.Context) (Status, error) {
	var s Status
	err := n.view(ctx, func(l *loop) { s = l.status() })
	s.Keys = n.Len() // outside of the loop: it may wait for a disk
	s.Refused, s.Dropped = n.counters.Maps()
	s.Blamed = n.counters.Blamed()
	s.TailBytes = n.counters.Protocols()[TailsID].Sent
	return s, err
}

// Traffic counts the bytes over the streams of one protocol with one peer, without the headers of the connection.
// Pubsub's are its RPCs with their lengths.
type Traffic = counters.Traffic

// Traffic returns the bytes over streams since New, by peer and protocol, of the 4,096 peers counted last.
func (n *Node) Traffic() []Traffic { return n.counters.ByPeer() }

// The values of Neighbour.Kind. A later version may have more.
const (
	KindRandom  = string(topology.Random)  // drawn from all peers known
	KindOverlap = string(topology.Similar) // holds the most of the node's keys, by estimate
	KindNear    = string(topology.Near)    // has a short round trip
	KindInbound = string(topology.Inbound) // chose the node
	KindRange   = string(topology.Ranged)  // drawn from the node's range
	KindSpread  = string(topology.Spread)  // drawn from all parts of a range that is far wider than those of others
)

// Neighbour is a peer that the node keeps a connection with.
type Neighbour struct {
	Peer    peer.ID           `json:"id"`
	Kind    string            `json:"kind"`           // why it was chosen: KindRandom or another
	Overlap estimate.Interval `json:"share,omitzero"` // estimated part of the node's keys that the peer holds; zero: not known
}

// Neighbours returns the neighbours, in the order of their ids. It takes one turn of the loop. The errors: ErrClosed,
// ctx's.
func (n *Node) Neighbours(ctx context.Context) (out []Neighbour, err error) {
	err = n.view(ctx, func(l *loop) {
		for _, nb := range l.core.Overlay.Neighbours() {
			out = append(out, Neighbour{peer.ID(nb.Peer), string(nb.Kind), nb.Overlap})
		}
	})
	return out, err
}

// Similar is a peer that holds some of the node's keys.
type Similar struct {
	Peer    peer.ID           `json:"id"`
	Overlap estimate.Interval `json:"share"` // estimated part of the node's keys that the peer holds
	Keys    int               `json:"keys"`  // number of keys that the peer holds in all
}

// Similar returns the peers that hold the most of the node's collection, the most similar first. most is the largest
// number of peers; 0 or less: none. Similar sorts the peers with known summaries in one turn of the loop. The errors:
// ErrClosed, ctx's.
func (n *Node) Similar(ctx context.Context, most int) (out []Similar, err error) {
	err = n.view(ctx, func(l *loop) {
		for _, s := range l.core.Overlay.Similar(max(0, most)) {
			out = append(out, Similar{peer.ID(s.Peer), s.Overlap, s.Keys})
		}
	})
	return out, err
}

// SummaryOf returns the prefix of a peer's summary that the node holds; it must not be changed. It takes one turn of
// the loop and copies nothing. The errors: ErrUnknown, ErrClosed, ctx's.
func (n *Node) SummaryOf(ctx context.Context, p peer.ID) (held *summary.Prefix, err error) {
	ok := false
	if err := n.view(ctx, func(l *loop) { held, ok = l.core.Overlay.Held(wire.PeerID(p)) }); err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrUnknown
	}
	return held, nil
}

// Overlap estimates the number of keys that the node and a peer have in common, at 95 % confidence. It goes through all
// keys of the node in the caller's goroutine. The errors: those of SummaryOf and of the key store.
func (n *Node) Overlap(ctx context.Context, p peer.ID) (estimate.Overlap, error) {
	held, err := n.SummaryOf(ctx, p)
	if err != nil {
		return estimate.Overlap{}, err
	}
	fps, err := n.fingerprints(held.Header().Seed)
	if err != nil {
		return estimate.Overlap{}, err
	}
	return summary.EstimateOwnOverlap(fps, held, 0.95)
}

// view runs look in the loop and waits for it. The errors: ctx's, and the reason why the loop ended before.
func (n *Node) view(ctx context.Context, look func(*loop)) error {
	done := make(chan struct{}) // closed when look has returned
	if err := n.in.Command(ctx, n.ctx, func(l *loop) { look(l); close(done) }); err != nil {
		return err
	}
	select {
	case <-done:
		return nil
	case <-n.ended:
	}
	select {
	case <-done:
		return nil
	default:
		return context.Cause(n.ctx)
	}
}

// status returns Status without the counters and the number of keys.
func (l *loop) status() Status {
	b := l.core.Overlay.Budgets(l.n.now())
	s := Status{
		Figures: Figures{
			Connections:  len(l.n.host.Network().Peers()),
			Links:        l.greetings(),
			OtherSeed:    l.core.Overlay.OtherSeeds(),
			Unrotated:    l.core.Overlay.Unrotated(),
			FalseMatches: l.core.Overlay.FalseMatches(),
			PubsubBytes:  l.learned[event.Pubsub],
			DirectBytes:  l.learned[event.Direct],
		},
		Peak:        l.n.links.Peak(),
		Epoch:       l.publisher.epoch,
		Deltas:      l.deltas,
		DeltaBytes:  l.deltaBytes,
		SparedBytes: l.deltaFull,
		Fallbacks:   l.fallbacks,
		Epochs:      l.publisher.published,
		Ignored:     l.core.Overlay.Ignored(),

		LineOut: b.LineOut, LineIn: b.LineIn, BudgetSent: b.Sent, BudgetReceived: b.Received,
		Announced: b.Announced,
		Bootstrap: l.bootstrapPeers(),
	}
	if err := cmp.Or(l.n.fault(), l.publisher.fault); err != nil {
		s.Fault = err.Error()
	}
	s.Made, s.Taken = l.n.links.Counts()
	s.Origins, s.PartsHeld, s.BytesHeld = l.core.Overlay.Totals()
	if s.Origins > 0 || s.Links > 0 {
		covers := l.core.Overlay.Covers()
		s.Covered, s.Range = covers.Share(), covers.String()
	}
	s.Contacts = len(l.core.Overlay.Contacts())
	return s
}
