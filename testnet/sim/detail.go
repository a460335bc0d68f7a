package sim

import (
	"cmp"
	"slices"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// Unknown stands for a count of a query that nobody knows.
const Unknown = -1

// Query is the outcome of a query. Counts may be Unknown on real hosts: bytes, and messages except to nodes of venn,
// are only known of all queries together; hops are unknown for nodes.
type Query struct {
	At       float64 `json:"at_s"` // when it began
	Asker    int     `json:"asker"`
	Key      uint32  `json:"key"`
	Findable int     `json:"findable"`   // holders that were there when it began, besides the asker; one at most when one is wanted
	Found    int     `json:"found"`      // of them
	Latency  float64 `json:"latency_ms"` // until the first holder was found; -1: none was
	Hops     int     `json:"hops"`
	Messages int     `json:"messages"`
	Bytes    int     `json:"bytes"`
	Probes   int     `json:"probes"`
	Wasted   int     `json:"wasted_probes"`
}

// Second counts what all peers sent in a second of the run, by the time of arrival. Messages that would arrive after
// the end are left out.
type Second struct {
	At       int   `json:"at_s"`
	Online   int   `json:"online"`       // peers, when the second began
	Upkeep   int64 `json:"upkeep_bytes"` // to connect included
	Query    int64 `json:"query_bytes"`
	Messages int   `json:"messages"` // of both
}

// Sent counts one kind of message sent for upkeep, or one protocol on real hosts.
type Sent struct {
	Name     string `json:"kind"`
	Messages int64  `json:"messages"`
	Bytes    int64  `json:"bytes"`
}

// Kinds that strategies do not name.
const (
	connectingKind = "connect" // opening connections
	otherKind      = "other"   // messages whose strategy names no kind
)

// watch notes the details of a run.
type watch struct {
	end     time.Duration
	seconds []Second
	kinds   map[string]*Sent
}

// at returns a second of the run. After the end of the run, it returns a second that is forgotten.
func (w *watch) at(t time.Duration) *Second {
	if t > w.end {
		return &Second{}
	}
	i := int(max(0, t) / time.Second)
	for n := len(w.seconds); n <= i; n++ {
		w.seconds = append(w.seconds, Second{At: n})
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
	w.add(kindOf(e.msg), 1, int64(e.msg.Bytes))
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
	w.add(connectingKind, 1, bytes)
}

// window notes the number of peers online, once in each second.
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

// add adds to a kind of message.
func (w *watch) add(name string, messages, bytes int64) {
	k := w.kinds[name]
	if k == nil {
		k = &Sent{Name: name}
		w.kinds[name] = k
	}
	k.Messages, k.Bytes = k.Messages+messages, k.Bytes+bytes
}

// sorted lists the kinds, the most bytes first.
func (w *watch) sorted() (out []Sent) {
	for _, k := range w.kinds {
		out = append(out, *k)
	}
	slices.SortFunc(out, func(a, b Sent) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name)) })
	return out
}
