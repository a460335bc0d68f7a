package sim

import (
	"cmp"
	"slices"
	"time"

	"github.com/venn-p2p/venn/testnet/judge"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Detail is what a run has shown in detail: of every query, of every second, of every kind of message.
type Detail struct {
	Queries []Outcome
	Seconds []Second // from 0 on
	Upkeep  []Sent   // by kind of message, the most bytes first; what it takes to connect is a kind too
}

// Outcome is what has become of a query.
type Outcome struct {
	At       time.Duration // when it began
	Asker    strategy.ID
	Key      uint32
	Findable int           // holders that were there when it began, besides the asker; one at most when one is wanted
	Found    int           // of them
	Latency  time.Duration // until the first holder was found; negative: none was
	Hops     int
	Messages int
	Bytes    int
	Probes   int
	Wasted   int // probes
}

// Second is what all peers sent in a second of the run, by when it arrives. What would arrive after the end is in none.
type Second struct {
	Upkeep   int64 // bytes, to connect included
	Query    int64 // bytes
	Messages int   // of both
	Online   int   // peers, when the second began
}

// Sent is what was sent of a kind of message.
type Sent struct {
	Name            string
	Messages, Bytes int64
}

// Kinds that strategies do not name.
const (
	connectingKind = "connect" // what connections take
	otherKind      = "other"   // messages whose strategy names no kind
)

// watch notes what a run shows in detail.
type watch struct {
	end     time.Duration
	seconds []Second
	kinds   map[string]*Sent
	connect Sent
}

// at is a second of the run. What comes after its end is in none: the result is forgotten then.
func (w *watch) at(t time.Duration) *Second {
	if t > w.end {
		return &Second{}
	}
	i := int(max(0, t) / time.Second)
	for len(w.seconds) <= i {
		w.seconds = append(w.seconds, Second{})
	}
	return &w.seconds[i]
}

// sent notes a message.
func (w *watch) sent(e *event) {
	s := w.at(e.at)
	s.Messages++
	if e.msg.Query != 0 {
		s.Query += int64(e.msg.Bytes)
		return
	}
	s.Upkeep += int64(e.msg.Bytes)
	w.kind(kindOf(e.msg)).add(&Sent{Messages: 1, Bytes: int64(e.msg.Bytes)})
}

// kindOf returns the kind of a message for upkeep.
func kindOf(m strategy.Message) string {
	if b, ok := m.Body.(strategy.Named); ok {
		return b.Kind()
	}
	return otherKind
}

// connected notes bytes of handshakes.
func (w *watch) connected(at time.Duration, bytes int64) {
	w.at(at).Upkeep += bytes
	w.connect.add(&Sent{Messages: 1, Bytes: bytes})
}

// window notes who is there in the second of a window.
func (w *watch) window(begin time.Duration, online []bool) {
	s := w.at(begin)
	if s.Online > 0 {
		return
	}
	for _, on := range online {
		if on {
			s.Online++
		}
	}
}

// merge adds what another has noted, except who is there.
func (w *watch) merge(o *watch) {
	for i, from := range o.seconds {
		s := w.at(time.Duration(i) * time.Second)
		s.Upkeep, s.Query, s.Messages = s.Upkeep+from.Upkeep, s.Query+from.Query, s.Messages+from.Messages
	}
	for name, from := range o.kinds {
		w.kind(name).add(from)
	}
	w.connect.add(&o.connect)
}

// kind returns the sum of a kind of message.
func (w *watch) kind(name string) *Sent {
	k := w.kinds[name]
	if k == nil {
		k = &Sent{Name: name}
		w.kinds[name] = k
	}
	return k
}

func (s *Sent) add(o *Sent) { s.Messages, s.Bytes = s.Messages+o.Messages, s.Bytes+o.Bytes }

// detail sums up what was noted.
func (s *Sim) detail(w *watch) *Detail {
	if w == nil {
		return nil
	}
	d := &Detail{Seconds: w.seconds}
	if w.connect.Bytes > 0 {
		d.Upkeep = append(d.Upkeep, Sent{connectingKind, w.connect.Messages, w.connect.Bytes})
	}
	for _, k := range w.kinds {
		d.Upkeep = append(d.Upkeep, *k)
	}
	slices.SortFunc(d.Upkeep, func(a, b Sent) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name)) })
	for i := range s.tally.queries {
		q := &s.tally.queries[i]
		mark := judge.MarkOf(len(q.holders), q.findable, s.cfg.All)
		o := Outcome{
			At: q.start, Asker: q.asker, Key: q.key, Findable: mark.Findable, Found: mark.Found, Latency: never,
			Hops: q.hops, Messages: q.messages, Bytes: q.bytes, Probes: q.probes, Wasted: q.wasted,
		}
		if q.first != never {
			o.Latency = q.first - q.start
		}
		d.Queries = append(d.Queries, o)
	}
	return d
}
