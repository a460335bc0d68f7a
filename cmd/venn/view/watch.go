package view

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"
	"golang.org/x/sync/errgroup"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/node/httpapi"
	"github.com/venn-p2p/venn/summary"
)

const (
	lookEvery  = time.Second            // time between looks with few peers; as much again for every smallWorld peers
	smallWorld = 40                     // peers: a look at 121 of them every 4 s costs a run little
	linksEvery = 2                      // looks from one that asks for links to the next
	lookTime   = 5 * time.Second        // longest time for nodes to answer
	flushEvery = 200 * time.Millisecond // time between publications of what peers learned
	looking    = 4                      // nodes asked at one time
	eventQueue = 1024                   // most events of a node that wait
	// numbered peers: identities cost nothing, so others may invent them; more peers are not shown
	maxNumbers = 1 << 14
)

// Watch asks nodes what they hold, and publishes the answers to a feed. It is safe for concurrent use.
type Watch struct {
	// Mirror returns the status of the nodes' mirror, nil if there is none. It must be set before Run. Mirror nil
	// means that there is no mirror.
	Mirror func() *httpapi.Mirror

	feed *Feed
	lazy bool // ask no node while there is no viewer

	mu      sync.Mutex
	numbers map[peer.ID]int
	members []member
	learned map[int][]learnt   // what each peer has learned, not yet published
	latest  map[[2]int]version // latest version of the second peer that the first has learned, by both
}

// learnt is a version of a peer's collection that another peer has learned.
type learnt struct {
	of int
	version
	at int64 // ms, since the feed began
}

// version is a published state of a peer's collection: a summary, or a tail after it.
type version struct {
	epoch summary.Epoch
	tail  uint32 // number of the tail; 0: the summary
}

func (v version) after(o version) bool {
	return v.epoch.After(o.epoch) || v.epoch == o.epoch && v.tail > o.tail
}

type member struct {
	n    int
	node *node.Node
	rate uint64
}

// NewWatch returns a watch over no nodes. A lazy watch asks nodes only while the feed has a viewer. It does not show
// what was learned before.
func NewWatch(f *Feed, lazy bool) *Watch {
	return &Watch{
		feed: f, lazy: lazy, numbers: make(map[peer.ID]int), learned: make(map[int][]learnt), latest: make(map[[2]int]version),
	}
}

// Add watches a node until ctx ends, and returns its number. It fills in the id and number of p.
func (w *Watch) Add(ctx context.Context, p Peer, n *node.Node) int {
	w.mu.Lock()
	p.Self, p.ID = true, n.ID().String()
	if p.Name == "" {
		p.Name = short(p.ID)
	}
	number, known := w.numbers[n.ID()]
	if known { // another node has named the peer already
		p.N = number
		w.feed.Publish(p)
	} else {
		number = w.add(n.ID(), p)
	}
	w.put(member{number, n, p.Rate})
	w.mu.Unlock()
	events, err := n.Host().EventBus().Subscribe([]any{new(node.EvtSummaryPublished), new(node.EvtTailLearned), new(node.EvtSummaryLearned)}, eventbus.BufSize(eventQueue))
	if err != nil {
		panic(err) // cannot be: the types are right
	}
	context.AfterFunc(ctx, func() { _ = events.Close() })
	go w.hear(number, events.Out())
	return number
}

// put adds a member. It replaces an earlier one with that number, whose peer has started again. The mutex is held.
func (w *Watch) put(m member) {
	others := slices.DeleteFunc(slices.Clone(w.members), func(o member) bool { return o.n == m.n }) // a look may read the old list
	w.members = append(others, m)
}

// add gives a peer the next number and publishes it. The mutex is held.
func (w *Watch) add(id peer.ID, p Peer) int {
	p.N = len(w.numbers)
	w.numbers[id] = p.N
	w.feed.Publish(p)
	return p.N
}

// number returns the number of a peer, and gives it one if it has none; -1: there are too many peers.
func (w *Watch) number(id peer.ID) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n, ok := w.numbers[id]; ok {
		return n
	}
	if len(w.numbers) >= maxNumbers {
		return -1
	}
	text := id.String()
	return w.add(id, Peer{Name: short(text), ID: text})
}

// short returns the end of an id: enough for a person to tell peers apart.
func short(id string) string { return "…" + id[max(0, len(id)-6):] }

// Number returns the number of a peer; -1: it has none.
func (w *Watch) Number(id peer.ID) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n, ok := w.numbers[id]; ok {
		return n
	}
	return -1
}

// hear publishes a node's events until there are no more.
func (w *Watch) hear(n int, events <-chan any) {
	for e := range events {
		switch e := e.(type) {
		case node.EvtSummaryPublished:
			w.feed.Publish(Epoch{N: n, Sequence: e.Epoch.Sequence, Keys: e.Keys, Parts: e.Parts, Bytes: e.Bytes})
		case node.EvtTailLearned:
			if w.Number(e.Origin) == n {
				w.feed.Publish(Tail{N: n, Sequence: e.Epoch.Sequence, Number: e.Number, Added: e.Added, Removed: e.Removed})
			} else {
				w.noteLearned(n, e.Origin, version{e.Epoch, e.Number})
			}
		case node.EvtSummaryLearned:
			w.noteLearned(n, e.Origin, version{e.Epoch, 0})
		}
	}
}

// noteLearned notes that a peer has learned a version of another, for the next flush.
func (w *Watch) noteLearned(n int, origin peer.ID, v version) {
	if w.idle() {
		return
	}
	of := w.number(origin)
	if of < 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if pair := [2]int{n, of}; v.after(w.latest[pair]) {
		w.latest[pair] = v
		w.learned[n] = append(w.learned[n], learnt{of, v, time.Since(w.feed.began).Milliseconds()})
	}
}

// Run looks at the nodes until ctx ends.
func (w *Watch) Run(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() { w.flushes(ctx) })
	for i := 0; ; i++ {
		members := w.watched()
		if w.idle() {
			i = -1 // i is 0 at the first look after a viewer came: that look asks for links
		} else {
			w.look(ctx, members, i%linksEvery == 0)
		}
		if !pause(ctx, lookEvery*time.Duration(1+len(members)/smallWorld)) {
			break
		}
	}
	wg.Wait()
}

func (w *Watch) idle() bool { return w.lazy && w.feed.Viewers() == 0 }

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// flushes publishes what peers have learned, every flushEvery, until ctx ends.
func (w *Watch) flushes(ctx context.Context) {
	for pause(ctx, flushEvery) {
		w.flush(time.Since(w.feed.began) - tellAfter)
	}
	w.flush(time.Since(w.feed.began))
}

// tellAfter is the time after which a learned version is published. Viewers count the peers that have learned a
// version from when its publisher reports it, but nodes report at the same time. After a second the publisher has
// reported, unless no processor was free for it.
const tellAfter = time.Second

// flush publishes what peers have learned up to a time.
func (w *Watch) flush(until time.Duration) {
	var events []Event
	w.mu.Lock()
	for n, l := range w.learned {
		e := Learned{N: n}
		for len(l) > 0 && l[0].at <= until.Milliseconds() {
			e.Learned = append(e.Learned, [4]int64{int64(l[0].of), int64(l[0].epoch.Sequence), l[0].at, int64(l[0].tail)})
			l = l[1:]
		}
		if len(e.Learned) > 0 {
			events = append(events, e)
		}
		if w.learned[n] = l; len(l) == 0 {
			delete(w.learned, n)
		}
	}
	w.mu.Unlock()
	if len(events) > 0 {
		w.feed.Publish(events...)
	}
}

func (w *Watch) watched() []member {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.members[:len(w.members):len(w.members)]
}

// Now asks all nodes once, also for their links.
func (w *Watch) Now(ctx context.Context) {
	w.flush(time.Since(w.feed.began))
	w.look(ctx, w.watched(), true)
}

// look asks nodes once, some at one time.
func (w *Watch) look(ctx context.Context, members []member, links bool) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	var group errgroup.Group
	group.SetLimit(looking)
	for _, m := range members {
		group.Go(func() error { w.lookAt(ctx, m, links); return nil })
	}
	_ = group.Wait()
}

// lookAt asks one node, and publishes its state. If the node is closed, or too busy to answer, it publishes nothing.
func (w *Watch) lookAt(ctx context.Context, m member, links bool) {
	s, err := m.node.Status(ctx)
	if err != nil {
		return
	}
	peers, err := m.node.Peers(ctx)
	if err != nil {
		return
	}
	events := []Event{Status{
		N: m.n, Keys: s.Keys, Links: s.Links, Origins: s.Origins, Parts: s.PartsHeld, Bytes: s.BytesHeld, False: s.FalseMatches,
		Sent: s.BudgetSent, Received: s.BudgetReceived, Announced: s.Announced, Pubsub: s.PubsubBytes, Direct: s.DirectBytes, Delta: s.DeltaBytes,
		Epoch: s.Epoch.Sequence, LineOut: s.LineOut, LineIn: s.LineIn,
	}, w.held(m.n, peers)}
	if w.Mirror != nil {
		if s := w.Mirror(); s != nil {
			events = append(events, Mirror{m.n, *s})
		}
	}
	if links {
		neighbours, err := m.node.Neighbours(ctx)
		if err != nil {
			return
		}
		events = append(events, w.links(m, peers, neighbours))
	}
	w.feed.Publish(events...)
}

func (w *Watch) held(n int, peers []node.PeerStatus) Held {
	h := Held{N: n}
	for _, p := range peers {
		if p.Parts == 0 {
			continue
		}
		if of := w.number(p.ID); of >= 0 {
			h.Held = append(h.Held, NewCell(of, p.Parts, p.Bytes, p.Rate))
		}
	}
	return h
}

// links returns the links of a watched node. A link to a peer that is not a neighbour has the kind "link".
func (w *Watch) links(m member, peers []node.PeerStatus, neighbours []node.Neighbour) Links {
	chosen := make(map[peer.ID]node.Neighbour, len(neighbours))
	for _, nb := range neighbours {
		chosen[nb.Peer] = nb
	}
	sent, received := make(map[peer.ID]uint64), make(map[peer.ID]uint64)
	for _, t := range m.node.Traffic() {
		sent[t.Peer] += t.Sent
		received[t.Peer] += t.Received
	}
	l := Links{N: m.n, Links: []Link{}}
	for _, p := range peers {
		if !p.Linked {
			continue
		}
		to := w.number(p.ID)
		if to < 0 {
			continue
		}
		link := Link{
			To: to, Kind: "link", Share: -1, RTT: Millis(p.RTT),
			Sent: sent[p.ID], Received: received[p.ID],
		}
		if nb, ok := chosen[p.ID]; ok {
			link.Kind = nb.Kind
			if nb.Overlap.Confidence > 0 {
				link.Share = nb.Overlap.Value
			}
		}
		l.Links = append(l.Links, link)
	}
	return l
}

// Answered publishes and returns a query that peer n has asked.
func (w *Watch) Answered(n int, key []byte, all bool, found []peer.ID, s node.QueryStats, err error) Query {
	q := Query{
		N: n, Key: httpapi.FormatKey(key), All: all, End: s.End, Millis: Millis(s.Elapsed),
		Probes: s.Probes, False: s.FalseProbes, Messages: s.Messages, Found: []int{},
		Steps: make([]Step, len(s.Explain)),
	}
	for i, a := range s.Explain {
		q.Steps[i] = Step{
			Peer: w.Number(a.Peer), Why: a.Why, Probability: round(a.Probability, 4), Result: a.Result, Names: a.Names,
			At: Millis(a.At), Took: Millis(a.Took), Bytes: a.Bytes,
		}
	}
	if err != nil {
		q.End = strings.Join(strings.Fields(err.Error()), " ")
	}
	for _, p := range found {
		q.Found = append(q.Found, w.Number(p))
	}
	w.feed.Publish(q)
	return q
}

// Ask asks node n for a key, and publishes the query. Any viewer may ask, so the node answers as if it held no
// private keys.
func (w *Watch) Ask(ctx context.Context, n int, key []byte, all bool) (Query, error) {
	for _, m := range w.watched() {
		if m.n != n {
			continue
		}
		results, err := m.node.Query(ctx, key, node.QueryOptions{All: all, Others: true})
		if err != nil {
			return Query{}, err
		}
		var found []peer.ID
		for p := range results.Providers() {
			found = append(found, p.ID)
		}
		s, err := results.Stats()
		if own, fault := m.node.Advertises(key); fault != nil {
			return Query{}, fault
		} else if own {
			found = append([]peer.ID{m.node.ID()}, found...)
		}
		return w.Answered(n, key, all, found, s, err), nil
	}
	return Query{}, errNoPeer
}
