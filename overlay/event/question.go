package event

import (
	"github.com/venn-p2p/venn/overlay/admission"
	"github.com/venn-p2p/venn/overlay/wire"
)

// Ask puts a question to the peer of a record, and dials the peer if need be. If the record has no envelope, there must
// be an open connection. One [Answered] answers it. A search has several answers, until one is final.
type Ask struct {
	To       wire.Record
	Question wire.Message        // a PartsRequest, Inquiry, HaveRequest of one key, or Query
	Search   uint64              // the query of package routing for which the question is asked; 0: none
	Owner    admission.Principal // the principal that caused the query; zero: this peer
}

// Answered carries an answer to an [Ask]. Or it reports that no answer came, or that no more will come.
type Answered struct {
	Ask
	Answer wire.Message // Parts, Names, HaveAnswer or Answer; nil: no answer came
	Here   bool         // no answer, because this end had no room: the peer is not to blame
	Bytes  int          // bytes of the answer; the first answer to a Query or HaveRequest includes the question's bytes
}

// Asked carries a peer's question: a PartsRequest, Inquiry or Query. Or it carries the Hello of a peer for which there
// is no room for a link; the answer names other peers. One [Answer] with the same Request answers it. A search has
// several answers.
type Asked struct {
	From     wire.PeerID
	Group    string // address group of the peer, as in package admission; "": not known
	Request  uint64
	Question wire.Message
}

// Who returns the asker as a principal. linked reports whether the asker has a link with this peer.
func (a Asked) Who(linked bool) admission.Principal {
	return admission.Principal{Peer: string(a.From), Group: a.Group, Linked: linked}
}

// Answer answers an [Asked], or refuses it. If it carries a wire.Answer that is not final, more follow.
type Answer struct {
	Request uint64
	Answer  wire.Message // nil: refused, for want of credit or of a place. The asker must not take that for a "no"
}

// For returns the machine that asked, and the core.
func (a Answered) For() Machines { return concerned(a.Question) | Core }

// For returns the machine that answers.
func (a Asked) For() Machines { return concerned(a.Question) }

// concerned returns the machine that asks and answers a kind of question.
func concerned(question wire.Message) Machines {
	switch question.(type) {
	case wire.Query, wire.HaveRequest:
		return Routing
	}
	return Overlay
}
