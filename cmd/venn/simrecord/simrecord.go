// Package simrecord records simulated networks as package view shows them. It is apart from view, so that the daemon,
// which serves a view of its own, does not reach the simulator.
package simrecord

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/venn-p2p/venn/cmd/venn/view"
	"github.com/venn-p2p/venn/node/httpapi"
	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/venn"
)

// manyPeers is how many peers are looked at every second of virtual time. With n times that number, the looks are n
// seconds apart. That bounds the recording, which grows with peers and looks.
const manyPeers = 500

// Recorder records a simulated network of venn's peers. A look at it writes what has changed since the last one;
// queries, summaries and what is learned of them have their own times. The same run gives the same bytes.
type Recorder struct {
	out   *view.Writer
	every time.Duration
	next  time.Duration
	begun bool
	last  time.Duration
}

// New begins a recording with its header. Looks are a second apart, or one for every 500 peers.
func New(w io.Writer, program string) (*Recorder, error) {
	out, err := view.NewWriter(w, view.Header{Source: "simulation", Network: "simulated", Program: program, Began: time.Unix(0, 0).UTC()})
	return &Recorder{out: out}, err
}

// Look records the state at a time, if a look is due. The last look, at the end, is always due.
func (r *Recorder) Look(s *sim.Sim, now, end time.Duration) error {
	n := s.Data().Peers()
	if !r.begun {
		r.begun = true
		r.every = max(1, time.Duration(n/manyPeers)) * time.Second
		for i := range n {
			if err := r.out.Write(0, simulatedPeer(s, i)); err != nil {
				return err
			}
		}
	}
	if now < r.next && now < end {
		return nil
	}
	r.next = now + r.every
	if err := r.notes(s, n, now); err != nil {
		return err
	}
	for i := range n {
		if err := r.out.Write(r.last, r.look(s, i, now)...); err != nil {
			return err
		}
	}
	phase := view.Phase{Phase: "simulated seconds", Done: int(now / time.Second), Total: int(end / time.Second)}
	if err := r.out.Write(r.last, phase); err != nil {
		return err
	}
	return r.out.Flush()
}

// simulatedPeer is what is fixed of a peer. Peers of one interest are a group.
func simulatedPeer(s *sim.Sim, i int) view.Peer {
	up, _ := s.Rates(strategy.ID(i))
	p := view.Peer{N: i, Name: fmt.Sprint("peer-", i), ID: fmt.Sprint("simulated-", i), Class: rateName(up), Rate: up, Self: true}
	if like := s.Data().Alike(strategy.ID(i)); len(like) > 0 {
		p.Group = fmt.Sprint("interest-", like[0])
	}
	return p
}

// rateName is a rate as classes of lines are named.
func rateName(rate uint64) string {
	for _, unit := range []struct {
		bits uint64
		name string
	}{{1e9, "gbit"}, {1e6, "mbit"}, {1e3, "kbit"}} {
		if rate >= unit.bits && rate%unit.bits == 0 {
			return fmt.Sprint(rate/unit.bits, unit.name)
		}
	}
	return fmt.Sprint(rate, "bit")
}

// noted is an event of a time of its own.
type noted struct {
	at    time.Duration
	event view.Event
}

// notes records what peers did since the last look, in the order of time. What one noted that has gone since is lost.
func (r *Recorder) notes(s *sim.Sim, n int, now time.Duration) error {
	var all []noted
	for i := range n {
		p, ok := s.Peer(strategy.ID(i)).(venn.Watched)
		if !ok {
			continue
		}
		took := p.Notes()
		for _, e := range took.Published {
			all = append(all, noted{e.At, view.Epoch{N: i, Sequence: e.Header.Epoch.Sequence, Keys: e.Header.N, Parts: e.Parts, Bytes: e.Bytes}})
		}
		for _, e := range took.Queries {
			all = append(all, noted{e.At, simulatedQuery(i, e)})
		}
		if len(took.Learned) > 0 {
			l := view.Learned{N: i}
			for _, e := range took.Learned {
				l.Learned = append(l.Learned, [4]int64{int64(e.Of), int64(e.Sequence), e.At.Milliseconds(), 0})
			}
			all = append(all, noted{took.Learned[len(took.Learned)-1].At, l})
		}
	}
	slices.SortStableFunc(all, func(a, b noted) int { return cmp.Compare(a.at, b.at) })
	for _, e := range all {
		r.last = max(r.last, e.at)
		if err := r.out.Write(r.last, e.event); err != nil {
			return err
		}
	}
	r.last = max(r.last, now)
	return nil
}

// look is what a peer holds. One that is not there holds nothing and has no links.
func (r *Recorder) look(s *sim.Sim, i int, now time.Duration) []view.Event {
	status, held, links := view.Status{N: i, Keys: len(s.Collection(strategy.ID(i)))}, view.Held{N: i}, view.Links{N: i, Links: []view.Link{}}
	p, ok := s.Peer(strategy.ID(i)).(venn.Watched)
	if !ok || p.Overlay() == nil {
		return []view.Event{status, held, links}
	}
	o := p.Overlay()
	for _, d := range o.Directory() {
		if d.Parts == 0 {
			continue
		}
		status.Origins, status.Parts, status.Bytes = status.Origins+1, status.Parts+d.Parts, status.Bytes+d.Bytes
		held.Held = append(held.Held, view.NewCell(int(venn.IDOf(d.Peer)), d.Parts, d.Bytes, d.Rate))
	}
	b, learned := o.Budgets(now), p.Learned()
	status.False = o.FalseMatches()
	status.Sent, status.Received, status.LineOut, status.LineIn = b.Sent, b.Received, b.LineOut, b.LineIn
	status.Announced = b.Announced
	status.Pubsub, status.Direct, status.Delta = learned.Pubsub, learned.Direct, learned.Delta
	if own := o.Own(); own != nil {
		status.Epoch = own.Header().Epoch.Sequence
	}
	links.Links = simulatedLinks(s, strategy.ID(i), o)
	status.Links = len(links.Links)
	return []view.Event{status, held, links}
}

func simulatedLinks(s *sim.Sim, p strategy.ID, o *overlay.Overlay) []view.Link {
	chosen := make(map[strategy.ID]overlay.Neighbour)
	for _, nb := range o.Neighbours() {
		chosen[venn.IDOf(nb.Peer)] = nb
	}
	links := []view.Link{}
	for _, to := range s.Links(p) {
		l := view.Link{To: int(to), Kind: "link", Share: -1, RTT: 2000 * s.Latency(p, to).Seconds()}
		if nb, ok := chosen[to]; ok {
			l.Kind = nb.Kind.String()
			if nb.Overlap.Confidence > 0 {
				l.Share = math.Round(nb.Overlap.Value*100) / 100 // the second decimal is within its error
			}
		}
		links = append(links, l)
	}
	return links
}

func simulatedQuery(n int, e venn.Ended) view.Query {
	s := e.Done.Stats
	q := view.Query{
		N: n, Key: httpapi.FormatKey(e.Query.Key.AppendBinary(nil)), All: e.Query.All, End: s.End.String(), Millis: view.Millis(s.Elapsed),
		Probes: s.Probes, False: s.FalseProbes, Messages: s.Messages, Found: []int{},
		Steps: view.Steps(s.Explain, func(p wire.PeerID) int { return int(venn.IDOf(p)) }),
	}
	if e.Done.Err != "" {
		q.End = e.Done.Err
	}
	for _, p := range e.Found {
		q.Found = append(q.Found, int(p))
	}
	return q
}
