package view

import (
	"encoding/json"
	"math"
	"time"

	"github.com/venn-p2p/venn/node/httpapi"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
)

// Version is the version of the format of recordings. A change that old readers would misread raises it.
const Version = 1

// Header is the first line of a recording.
type Header struct {
	Version int       `json:"venn_view"`
	Source  string    `json:"source"`         // "testnet", "simulation" or "daemon"
	Network string    `json:"network"`        // name of the network
	Program string    `json:"venn,omitempty"` // version of the program
	Began   time.Time `json:"began"`          // the zero of all times; 1970 in a simulation
}

// Event is one of the types of this file.
type Event interface {
	about() subject
}

// Peer has the fixed properties of a peer. New peers have the next number; a line with an earlier one adds to that
// peer.
type Peer struct {
	N     int    `json:"n"`
	Name  string `json:"name"`            // of a testnet's peer; of others, the end of the id
	ID    string `json:"id"`              // as libp2p prints it
	Group string `json:"group,omitempty"` // role in a testnet
	Class string `json:"class,omitempty"` // of its line
	Rate  uint64 `json:"rate,omitempty"`  // of its line, bit/s
	Self  bool   `json:"self,omitempty"`  // it is watched: it has status, links and held lines
}

// Status is a peer's state, with its counts so far.
type Status struct {
	N        int     `json:"n"`
	Keys     int     `json:"keys"`
	Links    int     `json:"links"`
	Origins  int     `json:"origins"`  // others whose summary it holds
	Parts    int     `json:"parts"`    // of these summaries
	Bytes    int     `json:"bytes"`    // of these parts
	False    float64 `json:"false"`    // peers that a query would ask in vain if it asked all that match
	Sent     uint64  `json:"sent"`     // bytes that counted against the budget for summaries; from 0 again after a restart
	Received uint64  `json:"received"` // likewise, as all sums below

	Announced uint64  `json:"announced"` // the part of Received that is announcements
	Pubsub    int     `json:"pubsub"`    // bytes of parts that came by the mesh
	Direct    int     `json:"direct"`    // and by direct fetch
	Delta     int     `json:"delta"`     // bytes of deltas
	Epoch     uint32  `json:"epoch"`     // number of the own summary; 0: none yet
	LineOut   float64 `json:"line_out"`  // bytes a second that the line may send of summaries on average: after a pause, more may go
	LineIn    float64 `json:"line_in"`   // and receive
}

// Links are all links of a peer.
type Links struct {
	N     int    `json:"n"`
	Links []Link `json:"links"`
}

// Link is one link, as its end N sees it. It is an array on the wire: to, kind, share, rtt, sent, received.
type Link struct {
	To             int
	Kind           string  // overlap, near, random, inbound, …; "link" where neither end chose the other
	Share          float64 // of the peer's keys that the other holds, as estimated; -1: not known
	RTT            float64 // ms; 0: not known
	Sent, Received uint64  // bytes on all of venn's protocols so far
}

// MarshalJSON writes the link as an array.
func (l Link) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{l.To, l.Kind, l.Share, l.RTT, l.Sent, l.Received})
}

// Held lists what a peer holds of others' summaries, where that has changed.
type Held struct {
	N    int    `json:"n"`
	Held []Cell `json:"held"`
}

// Cell is a peer's share of one summary. It is an array on the wire: of, parts, bytes, bits. Parts 0: nothing any more.
type Cell struct {
	Of, Parts, Bytes int
	Bits             float64 // minus the base-2 logarithm of the false-positive rate
}

// NewCell returns the cell of a summary with a false-positive rate.
func NewCell(of, parts, bytes int, rate float64) Cell {
	return Cell{of, parts, bytes, round(-math.Log2(max(rate, 1e-12)), 1)}
}

// MarshalJSON writes the cell as an array.
func (c Cell) MarshalJSON() ([]byte, error) {
	return json.Marshal([4]float64{float64(c.Of), float64(c.Parts), float64(c.Bytes), c.Bits})
}

// Epoch is the event of a peer that published a summary of its own.
type Epoch struct {
	N        int    `json:"n"`
	Sequence uint32 `json:"sequence"`
	Keys     int    `json:"keys"`
	Parts    int    `json:"parts"`
	Bytes    int    `json:"bytes"` // of all parts
}

// Tail is the event of a peer that published a tail: its changes since its summary.
type Tail struct {
	N        int    `json:"n"`
	Sequence uint32 `json:"sequence"` // of the summary
	Number   uint32 `json:"number"`   // of the tail, from 1 for each summary
	Added    int    `json:"added"`    // keys since the summary
	Removed  int    `json:"removed"`
}

// Learned lists newer summaries of which a peer has got the first part, and tails that it knows. Each is an array: of,
// sequence, time in milliseconds, number of the tail. Number 0 is the summary.
type Learned struct {
	N       int        `json:"n"`
	Learned [][4]int64 `json:"learned"`
}

// Query is a query that ended.
type Query struct {
	N        int     `json:"n"` // the asking peer
	Key      string  `json:"key"`
	All      bool    `json:"all"`   // all holders were wanted, not one
	Found    []int   `json:"found"` // peers that answered yes
	End      string  `json:"end"`   // enough, exhausted, out of budget, …, or an error
	Millis   float64 `json:"ms"`
	Probes   int     `json:"probes"` // peers asked whether they hold it
	False    int     `json:"false"`  // of the probes, those answered no
	Messages int     `json:"messages"`
	Steps    []Step  `json:"steps"` // in the order of asking
}

// Step is one question of a query.
type Step struct {
	Peer        int     `json:"peer"`
	Why         string  `json:"why"`             // matched, named, returned, forwarded, linked, contact
	Probability float64 `json:"probability"`     // that it holds the key, as estimated before
	Result      string  `json:"result"`          // holds, lacks, failed, answered, pending
	Names       int     `json:"names,omitempty"` // that the peer named
	At          float64 `json:"at"`              // ms from the query's begin to the question
	Took        float64 `json:"took,omitempty"`  // ms from the question to its last answer, or until it was given up; 0: pending
	Bytes       int     `json:"bytes,omitempty"` // of question and answers; 0: not known
}

// Steps converts the questions of a query. number returns the number of a peer, or -1.
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

// rounded returns the status with the digits that viewers see: smaller changes make no new line.
func (s Status) rounded() Status {
	s.False, s.LineOut, s.LineIn = round(s.False, 2), round(s.LineOut, 0), round(s.LineIn, 0)
	return s
}

// rounded returns the links with the digits that viewers see: smaller changes make no new line.
func (l Links) rounded() Links {
	out := make([]Link, len(l.Links)) // not nil, which JSON writes as null
	for i, x := range l.Links {
		x.Share, x.RTT = round(x.Share, 4), round(x.RTT, 1)
		out[i] = x
	}
	return Links{l.N, out}
}

// round rounds a number to some decimals. It returns 0 for infinities and NaN.
func round(v float64, decimals int) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	p := math.Pow10(decimals)
	return math.Round(v*p) / p
}

// Phase is the progress of a run.
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
