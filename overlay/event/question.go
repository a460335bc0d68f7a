package event

import (
	"github.com/venn-p2p/venn/overlay/admission"
	"github.com/venn-p2p/venn/overlay/wire"
)

// Ask puts a question to the peer of a record, which is dialled when need be. Of a record without an envelope, only a
// connection that there is will do. It is answered by [Answered]: by one, or of a search by any number until one is final.
type Ask struct {
	To       wire.Record
	Question wire.Message        // a PartsRequest, Inquiry, HaveRequest of one key, or Query
	Search   uint64              // the query of package routing that it is for; 0: none
	Owner    admission.Principal // who has that query made; nobody: this peer
}

// Answered is an answer to an [Ask], or says that none came, or none any more.
type Answered struct {
	Ask
	Answer wire.Message // Parts, Names, HaveAnswer or Answer; nil: none
	Here   bool         // there is none for want of room at this end: the peer is not to blame
	Bytes  int          // of the answer; with those of the question in the first one to a Query or HaveRequest
}

// Asked is a question of a peer: a PartsRequest, Inquiry, Query, or the Hello of one that there is no room to link with,
// which is to be told of others. It is answered by one [Answer] of the same Request, or for a search by several.
type Asked struct {
	From     wire.PeerID
	Group    string // of the address that it asks from, as in package admission; "": nothing is known
	Request  uint64
	Question wire.Message
}

// Answer answers an [Asked]. Of a wire.Answer that is not final more follow.
type Answer struct {
	Request uint64
	Answer  wire.Message
}

// For returns the machine that asked, and the core.
func (a Answered) For() Machines { return concerned(a.Question) | Core }

// For returns the machine that answers.
func (a Asked) For() Machines { return concerned(a.Question) }

// concerned returns the machine that asks and answers questions of a kind.
func concerned(question wire.Message) Machines {
	switch question.(type) {
	case wire.Query, wire.HaveRequest:
		return Routing
	}
	return Overlay
}
