package sim

import (
	"cmp"
	"slices"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// Unknown is a query's count that could not be measured.
const Unknown = -1

// Query is the outcome of a query. On real hosts counts may be Unknown. Bytes are known only for all queries
// together. So are messages, except for venn's nodes, whose hops are unknown.
type Query struct {
	At    float64 `json:"at_s"` // begin of the query
	Asker int     `json:"asker"`
	Key   uint32  `json:"key"`
	// number of holders online when it began, without the asker; at most 1 if one holder is wanted
	Findable int     `json:"findable"`
	Found    int     `json:"found"`      // number of these holders that were found
	Latency  float64 `json:"latency_ms"` // time until the first holder was found; -1: none was
	Hops     int     `json:"hops"`
	Messages int     `json:"messages"`
	Bytes    int     `json:"bytes"`
	Probes   int     `json:"probes"`
	Wasted   int     `json:"wasted_probes"`
}

// Second counts what all peers sent in one second of the run, by the time of arrival. It leaves out messages that
// would arrive after the end of the run.
type Second struct {
	At       int   `json:"at_s"`
	Online   int   `json:"online"`       // peers online when the second began
	Upkeep   int64 `json:"upkeep_bytes"` // upkeep bytes, with handshakes
	Query    int64 `json:"query_bytes"`
	Messages int   `json:"messages"` // number of messages for upkeep and for queries
}

// Sent counts the messages of one kind for upkeep; on real hosts, of one protocol.
type Sent struct {
	Name     string `json:"kind"`
	Messages int64  `json:"messages"`
	Bytes    int64  `json:"bytes"`
}

// The kinds of messages that the simulator names.
const (
	connectingKind = "connect" // opening connections
	otherKind      = "other"   // messages whose strategy names no kind
)

// watch collects the details of a run.
type watch struct {
	end     time.Duration
	seconds []Second
	kinds   map[string]*Sent
}

// at returns the record of the second that contains t. For a time after the end of the run it returns a record
// that is not kept.
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

// sent counts a message.
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
	if b, ok := m.Body.(strategy.Kinded); ok {
		return b.Kind()
	}
	return otherKind
}

// connected counts the bytes of one handshake, both ends.
func (w *watch) connected(at time.Duration, bytes int64) {
	w.at(at).Upkeep += bytes
	w.add(connectingKind, 1, bytes)
}

// window notes the number of peers online, at the first window of each second.
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

// add adds to the counts of a kind of message.
func (w *watch) add(name string, messages, bytes int64) {
	k := w.kinds[name]
	if k == nil {
		k = &Sent{Name: name}
		w.kinds[name] = k
	}
	k.Messages, k.Bytes = k.Messages+messages, k.Bytes+bytes
}

// sorted returns the kinds, the one with the most bytes first.
func (w *watch) sorted() (out []Sent) {
	for _, k := range w.kinds {
		out = append(out, *k)
	}
	slices.SortFunc(out, func(a, b Sent) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name)) })
	return out
}
