package event

import (
	"github.com/venn-p2p/venn/overlay/admission"
	"github.com/venn-p2p/venn/overlay/wire"
)

// Ask puts a question to the peer of a record, and dials it if need be. A record without an envelope needs an open
// connection. It is answered by one [Answered]; a search by several, until one is final.
type Ask struct {
	To       wire.Record
	Question wire.Message        // a PartsRequest, Inquiry, HaveRequest of one key, or Query
	Search   uint64              // the query of package routing that asks; 0: none
	Owner    admission.Principal // the principal that has the query made; nobody: this peer
}

// Answered is an answer to an [Ask], or reports that none came, or no more will.
type Answered struct {
	Ask
	Answer wire.Message // Parts, Names, HaveAnswer or Answer; nil: none
	Here   bool         // there is no answer for want of room at this end: the peer is not to blame
	Bytes  int          // of the answer; the first one to a Query or HaveRequest counts the question, too
}

// Asked is a peer's question: a PartsRequest, Inquiry or Query, or the Hello of a peer that there is no room to link
// with and that is to be named others. It is answered by one [Answer] of the same Request; a search by several.
type Asked struct {
	From     wire.PeerID
	Group    string // address group that it asks from, as in package admission; "": not known
	Request  uint64
	Question wire.Message
}

// Who returns the asker as a principal. linked: it has a link with this peer.
func (a Asked) Who(linked bool) admission.Principal {
	return admission.Principal{Peer: string(a.From), Group: a.Group, Linked: linked}
}

// Answer answers an [Asked]. A wire.Answer that is not final is followed by more.
type Answer struct {
	Request uint64
	Answer  wire.Message
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
