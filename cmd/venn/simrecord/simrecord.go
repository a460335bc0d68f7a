// Package simrecord records simulated networks as recordings of package view. It is not part of view, so that the
// daemon, which serves a view, does not import the simulator.
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
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/venn"
)

// manyPeers is the number of peers up to which looks are one second of virtual time apart. With n times as many,
// they are n seconds apart. That bounds the size of the recording.
const manyPeers = 500

// Recorder records a simulated network of venn's peers. A look writes what changed since the last look. Queries,
// summaries, and what peers learn of these, have the times at which they happened. The same run gives the same
// bytes.
type Recorder struct {
	out   *view.Writer
	every time.Duration
	next  time.Duration
	begun bool
	last  time.Duration

	sessions []session // sessions of the peers, by their numbers
}

// New returns a Recorder, and writes the header.
func New(w io.Writer, program string) (*Recorder, error) {
	out, err := view.NewWriter(w, view.Header{Source: "simulation", Network: "simulated", Program: program, Began: time.Unix(0, 0).UTC()})
	return &Recorder{out: out}, err
}

// Look records the state at a time, if a look is due. The last one, at the end of the run, is always due.
func (r *Recorder) Look(s *sim.Sim, now, end time.Duration) error {
	n := s.Data().Peers()
	if !r.begun {
		r.begun, r.sessions = true, make([]session, n)
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

// simulatedPeer returns the fixed properties of a peer. Peers with an interest in common are a group.
func simulatedPeer(s *sim.Sim, i int) view.Peer {
	up, _ := s.Rates(strategy.ID(i))
	p := view.Peer{N: i, Name: fmt.Sprint("peer-", i), ID: fmt.Sprint("simulated-", i), Class: scenario.Rate(up).String(), Rate: up, Self: true}
	if like := s.Data().Alike(strategy.ID(i)); len(like) > 0 {
		p.Group = fmt.Sprint("interest-", like[0])
	}
	return p
}

// noted is an event with the time at which it happened.
type noted struct {
	at    time.Duration
	event view.Event
}

// session has what the Recorder knows of a peer since it came online.
type session struct {
	peer                  venn.Watched // the session's machine; a new session begins when the peer has another one
	latest                map[wire.PeerID]uint32
	asked                 map[routing.QueryID]view.Query // queries under way
	pubsub, direct, delta int                            // bytes of parts received, by the way on which they came
}

// notes records what peers did since the last look, in order of time. The notes of a peer that has left since are
// lost.
func (r *Recorder) notes(s *sim.Sim, n int, now time.Duration) error {
	var all []noted
	for i := range n {
		p, ok := s.Peer(strategy.ID(i)).(venn.Watched)
		if !ok {
			continue
		}
		if r.sessions[i].peer != p {
			r.sessions[i] = session{peer: p, latest: map[wire.PeerID]uint32{}, asked: map[routing.QueryID]view.Query{}}
		}
		all = append(all, r.sessions[i].take(i)...)
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

// take returns the notes of peer i as events: summaries published, queries that ended, and then one event with what
// it learned of others, each epoch once.
func (s *session) take(i int) (published []noted) {
	var ended []noted
	learned, last := view.Learned{N: i}, time.Duration(0)
	for _, note := range s.peer.Notes() {
		switch e := note.What.(type) {
		case event.Published:
			h := e.Stream.Header()
			published = append(published, noted{note.At, view.Epoch{N: i, Sequence: h.Epoch.Sequence, Keys: h.N, Parts: e.Stream.Parts(), Bytes: e.Stream.EncodedBytes()}})
		case event.Learned:
			s.count(e)
			if e.Epoch.Sequence > s.latest[e.Origin] {
				s.latest[e.Origin], last = e.Epoch.Sequence, note.At
				learned.Learned = append(learned.Learned, [4]int64{int64(venn.IDOf(e.Origin)), int64(e.Epoch.Sequence), note.At.Milliseconds(), 0})
			}
		case routing.Start:
			s.asked[e.Query.ID] = view.Query{N: i, Key: httpapi.FormatKey(e.Query.Key), All: e.Query.Mode == wire.All, Found: []int{}}
		case routing.Found:
			if q, own := s.asked[e.ID]; own {
				q.Found = append(q.Found, int(venn.IDOf(e.Provider.Peer)))
				s.asked[e.ID] = q
			}
		case routing.Done:
			if q, own := s.asked[e.ID]; own {
				ended = append(ended, noted{note.At, end(q, e)})
				delete(s.asked, e.ID)
			}
		}
	}
	if published = append(published, ended...); len(learned.Learned) > 0 {
		published = append(published, noted{last, learned})
	}
	return published
}

// count counts the bytes of parts that the peer received.
func (s *session) count(e event.Learned) {
	switch {
	case e.Delta > 0:
		s.delta += e.Delta
	case e.Transport == event.Direct:
		s.direct += e.Bytes
	default:
		s.pubsub += e.Bytes
	}
}

// look returns the state of a peer. An absent peer holds nothing of others and has no links.
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
	b, learned := o.Budgets(now), &r.sessions[i]
	status.False = o.FalseMatches()
	status.Sent, status.Received, status.LineOut, status.LineIn = b.Sent, b.Received, b.LineOut, b.LineIn
	status.Announced = b.Announced
	status.Pubsub, status.Direct, status.Delta = learned.pubsub, learned.direct, learned.delta
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
			l.Kind = string(nb.Kind)
			if nb.Overlap.Confidence > 0 {
				// more decimals would be less than the estimate's error
				l.Share = math.Round(nb.Overlap.Value*100) / 100
			}
		}
		links = append(links, l)
	}
	return links
}

// end returns a query with its result.
func end(q view.Query, e routing.Done) view.Query {
	s := e.Stats
	q.End, q.Millis, q.Probes, q.False, q.Messages = cmp.Or(e.Err, s.End.String()), view.Millis(s.Elapsed), s.Probes, s.FalseProbes, s.Messages
	q.Steps = view.Steps(s.Explain, func(p wire.PeerID) int { return int(venn.IDOf(p)) })
	return q
}
