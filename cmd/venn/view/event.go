package view

import (
	"encoding/json"
	"math"
	"time"

	"github.com/venn-p2p/venn/node/httpapi"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
)

// Version is the version of the format of recordings. A change that makes old readers misread recordings must raise
// it.
const Version = 1

// Header is the first line of a recording.
type Header struct {
	Version int       `json:"venn_view"`
	Source  string    `json:"source"`         // "testnet", "simulation" or "daemon"
	Network string    `json:"network"`        // name of the network
	Program string    `json:"venn,omitempty"` // version of the program
	Began   time.Time `json:"began"`          // time 0 of the events; 1970 in a simulation
}

// Event is an event of a recording. The types of this file implement it.
type Event interface {
	about() subject
}

// Peer has the fixed properties of a peer. A new peer has the next number. A line with an earlier number completes
// what was known of that peer.
type Peer struct {
	N     int    `json:"n"`
	Name  string `json:"name"`            // name of a testnet's peer; of other peers, the end of the id
	ID    string `json:"id"`              // peer id, as libp2p prints it
	Group string `json:"group,omitempty"` // role in a testnet
	Class string `json:"class,omitempty"` // class of its line
	Rate  uint64 `json:"rate,omitempty"`  // rate of its line, bit/s
	Self  bool   `json:"self,omitempty"`  // the peer is watched: it has lines of status, links and held
}

// Status is a peer's state, with its counts so far.
type Status struct {
	N       int     `json:"n"`
	Keys    int     `json:"keys"`
	Links   int     `json:"links"`
	Origins int     `json:"origins"` // number of other peers whose summaries it holds
	Parts   int     `json:"parts"`   // parts held of these summaries
	Bytes   int     `json:"bytes"`   // bytes of these parts
	False   float64 `json:"false"`   // expected number of peers without the key, if a query asks all that match
	// bytes that counted against the budget for summaries; begins again at 0 after a restart
	Sent     uint64 `json:"sent"`
	Received uint64 `json:"received"` // the same for bytes received; all sums below begin again at 0, too

	Announced uint64 `json:"announced"` // bytes of announcements, a part of Received
	Pubsub    int    `json:"pubsub"`    // bytes of parts received by the mesh
	Direct    int    `json:"direct"`    // bytes of parts fetched directly
	Delta     int    `json:"delta"`     // bytes of deltas
	Epoch     uint32 `json:"epoch"`     // number of its own summary; 0: none yet
	// mean bytes a second that the line may send of summaries; after a pause it may send more
	LineOut float64 `json:"line_out"`
	LineIn  float64 `json:"line_in"` // mean bytes a second that the line may receive of summaries
}

// Links has all links of a peer.
type Links struct {
	N     int    `json:"n"`
	Links []Link `json:"links"`
}

// Link is a link as seen by one end, the N of Links. In JSON it is an array: to, kind, share, rtt, sent, received.
type Link struct {
	To             int
	Kind           string  // overlap, near, random, inbound, …; "link" if neither end chose the other as neighbour
	Share          float64 // estimated share of the peer's keys that the other holds; -1: not known
	RTT            float64 // round trip in ms; 0: not known
	Sent, Received uint64  // bytes so far on all of venn's protocols
}

// MarshalJSON writes the link as an array.
func (l Link) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{l.To, l.Kind, l.Share, l.RTT, l.Sent, l.Received})
}

// Held has what a peer holds of others' summaries. A feed or Writer writes only the cells that have changed.
type Held struct {
	N    int    `json:"n"`
	Held []Cell `json:"held"`
}

// Cell has what a peer holds of one summary. In JSON it is an array: of, parts, bytes, bits. Parts 0 means that it
// holds nothing of it any more.
type Cell struct {
	Of, Parts, Bytes int
	Bits             float64 // minus the base-2 logarithm of the false-positive rate
}

// NewCell returns the cell of a summary, whose held parts have a false-positive rate.
func NewCell(of, parts, bytes int, rate float64) Cell {
	return Cell{of, parts, bytes, round(-math.Log2(max(rate, 1e-12)), 1)}
}

// MarshalJSON writes the cell as an array.
func (c Cell) MarshalJSON() ([]byte, error) {
	return json.Marshal([4]float64{float64(c.Of), float64(c.Parts), float64(c.Bytes), c.Bits})
}

// Epoch is the event that a peer published a summary of its own.
type Epoch struct {
	N        int    `json:"n"`
	Sequence uint32 `json:"sequence"`
	Keys     int    `json:"keys"`
	Parts    int    `json:"parts"`
	Bytes    int    `json:"bytes"` // bytes of all parts
}

// Tail is the event that a peer published a tail: its changes since its summary.
type Tail struct {
	N        int    `json:"n"`
	Sequence uint32 `json:"sequence"` // number of the summary
	Number   uint32 `json:"number"`   // number of the tail, from 1 for each summary
	Added    int    `json:"added"`    // number of keys added since the summary
	Removed  int    `json:"removed"`
}

// Learned has the newer summaries of other peers whose first part a peer has received, and the tails that it has
// received. Each is an array: number of the peer that published it, sequence number of the summary, time in
// milliseconds, number of the tail. Tail 0 means the summary.
type Learned struct {
	N       int        `json:"n"`
	Learned [][4]int64 `json:"learned"`
}

// Query is a query that ended.
type Query struct {
	N        int     `json:"n"` // the asking peer
	Key      string  `json:"key"`
	All      bool    `json:"all"`   // the query wanted all holders, not one
	Found    []int   `json:"found"` // peers that answered yes
	End      string  `json:"end"`   // enough, exhausted, out of budget, …, or an error
	Millis   float64 `json:"ms"`
	Probes   int     `json:"probes"` // number of peers asked whether they hold the key
	False    int     `json:"false"`  // number of probes that were answered no
	Messages int     `json:"messages"`
	Steps    []Step  `json:"steps"` // questions, in the order in which they were asked
}

// Step is one question of a query.
type Step struct {
	Peer        int     `json:"peer"`
	Why         string  `json:"why"`             // matched, named, returned, forwarded, linked, contact
	Probability float64 `json:"probability"`     // probability that the peer holds the key, as estimated before
	Result      string  `json:"result"`          // holds, lacks, failed, answered, pending
	Names       int     `json:"names,omitempty"` // number of peers that it named
	At          float64 `json:"at"`              // ms from the query's begin to the question
	Took        float64 `json:"took,omitempty"`  // ms from the question to its last answer, or until it was given up; 0: pending
	Bytes       int     `json:"bytes,omitempty"` // bytes of question and answers; 0: not known
}

// Steps returns the questions of a query as steps. number returns the number of a peer, or -1.
func Steps(explained []routing.Reason, number func(wire.PeerID) int) []Step {
	out := make([]Step, len(explained))
	for i, r := range explained {
		out[i] = Step{
			Peer: number(r.Peer), Why: r.Why.String(), Probability: round(r.Probability, 4), Result: r.Result.String(), Names: r.Names,
			At: Millis(r.At), Took: Millis(r.Took), Bytes: r.Bytes,
		}
	}
	return out
}

// Millis returns a time in milliseconds, rounded to a tenth.
func Millis(d time.Duration) float64 { return round(d.Seconds()*1000, 1) }

// rounded returns the status with as many digits as viewers see. So smaller changes make no new line.
func (s Status) rounded() Status {
	s.False, s.LineOut, s.LineIn = round(s.False, 2), round(s.LineOut, 0), round(s.LineIn, 0)
	return s
}

// rounded returns the links with as many digits as viewers see. So smaller changes make no new line.
func (l Links) rounded() Links {
	out := make([]Link, len(l.Links)) // not nil, which JSON writes as null
	for i, x := range l.Links {
		x.Share, x.RTT = round(x.Share, 4), round(x.RTT, 1)
		out[i] = x
	}
	return Links{l.N, out}
}

// round rounds a number to that many decimals. It returns 0 for infinities and NaN.
func round(v float64, decimals int) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	p := math.Pow10(decimals)
	return math.Round(v*p) / p
}

// Phase is the progress of a run: Done of Total steps.
type Phase struct {
	Phase string `json:"phase"`
	Done  int    `json:"done"`
	Total int    `json:"total"`
}

// Report is the report of a run.
type Report struct {
	Report json.RawMessage `json:"report"`
}

// Mirror is the state of a peer's mirror, if it has one.
type Mirror struct {
	N int `json:"n"`
	httpapi.Mirror
}

func (e Mirror) about() subject  { return subject{"mirror", e.N} }
func (e Peer) about() subject    { return subject{"peer", e.N} }
func (s Status) about() subject  { return subject{"status", s.N} }
func (l Links) about() subject   { return subject{"links", l.N} }
func (e Held) about() subject    { return subject{"held", e.N} }
func (e Epoch) about() subject   { return subject{"epoch", e.N} }
func (e Tail) about() subject    { return subject{"tail", e.N} }
func (e Learned) about() subject { return subject{"learned", e.N} }
func (e Query) about() subject   { return subject{"query", e.N} }
func (Phase) about() subject     { return subject{"phase", 0} }
func (Report) about() subject    { return subject{"report", 0} }

// encode writes an event as a line.
func encode(e Event, t time.Duration) []byte {
	head, err := json.Marshal(struct {
		Type string `json:"type"`
		T    int64  `json:"t"`
	}{e.about().kind, t.Milliseconds()})
	if err != nil {
		panic(err)
	}
	body, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	line := append(head[:len(head)-1], ',')
	line = append(line, body[1:]...)
	return append(line, '\n')
}
