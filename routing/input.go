package routing

import (
	"fmt"
	"strings"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Start opens a query.
type Start struct{ Query Query }

// Cancel ends a query with what it has. Unknown IDs are ignored, here and in all other inputs: the query may have
// ended.
type Cancel struct{ ID QueryID }

// Confirmed is a peer's own word on whether it holds the key. RTT is the time that the question took.
type Confirmed struct {
	ID    QueryID
	Peer  wire.PeerID
	Has   bool
	RTT   time.Duration
	Bytes int // of question and answer, for [Reason] alone
}

// ConfirmFailed says that a [Confirm] brought no answer. Here says that the question was not even sent, because a queue
// here was full. That is not the peer's fault.
type ConfirmFailed struct {
	ID   QueryID
	Peer wire.PeerID
	Here bool
}

// AskFailed says that an [Ask] brought no (further) answer.
type AskFailed struct {
	ID   QueryID
	Peer wire.PeerID
}

// AnswerReceived is an answer to an [Ask] of some kind. A search has any number of them until one is final, and Messages is
// its cost so far, in all. The answer to who may hold the key is one, the likeliest holders first.
type AnswerReceived struct {
	ID   QueryID
	From wire.PeerID
	Kind wire.Kind
	wire.Answer
	Bytes int // of this answer, that of the first with the question, for [Reason] alone
}

// Asked is a peer's query. Request names the stream on which the answers go back, and only there. Nonce, Origin, Want,
// Budget, Deadline, Hops and Visited matter to searches only. Within does not count.
type Asked struct {
	Request uint64
	From    wire.PeerID
	wire.Query
	Fingerprint summary.Fingerprint
	Deadline    time.Duration
}

// Reached says that a peer has shown that it lives: a failure to answer before no longer counts against it. A hello
// says the same.
type Reached struct{ Peer wire.PeerID }

// Unheard says that a peer gives no sign of life: nothing comes on its connection, or no connection is made. What it was
// asked has failed, in all queries. An answer that comes all the same counts.
type Unheard struct{ Peer wire.PeerID }

func (Start) For() event.Machines          { return event.Routing }
func (Cancel) For() event.Machines         { return event.Routing }
func (Confirmed) For() event.Machines      { return event.Routing }
func (ConfirmFailed) For() event.Machines  { return event.Routing }
func (AskFailed) For() event.Machines      { return event.Routing }
func (AnswerReceived) For() event.Machines { return event.Routing }
func (Asked) For() event.Machines          { return event.Routing }
func (Reached) For() event.Machines        { return event.Routing }
func (Unheard) For() event.Machines        { return event.Routing }

func (i Start) String() string {
	q := i.Query
	return fmt.Sprintf("Start %s %q %s want=%d budget=%d deadline=%v", q.ID, q.Key, q.Mode, q.Want, q.Budget, q.Deadline)
}

func (i Cancel) String() string { return fmt.Sprintf("Cancel %s", i.ID) }

func (i Confirmed) String() string {
	return fmt.Sprintf("Confirmed %s %s %s", i.ID, i.Peer, map[bool]string{true: "holds", false: "lacks"}[i.Has])
}

func (i ConfirmFailed) String() string { return fmt.Sprintf("ConfirmFailed %s %s", i.ID, i.Peer) }

func (i AskFailed) String() string { return fmt.Sprintf("AskFailed %s %s", i.ID, i.Peer) }

func (i AnswerReceived) String() string {
	if i.Kind == wire.Candidates {
		return fmt.Sprintf("CandidatesReceived %s from=%s %s", i.ID, i.From, peers(i.Records))
	}
	return fmt.Sprintf("ForwardReturned %s from=%s %s messages=%d%s", i.ID, i.From, peers(i.Records), i.Messages, unlessZero(" as of ", i.AsOf)+final(i.Final))
}

func (i Asked) String() string {
	s := fmt.Sprintf("Asked #%d %s by %s %q %s", i.Request, i.Kind, i.From, i.Key, i.Mode)
	if i.Kind == wire.Search {
		s += fmt.Sprintf(" origin=%s nonce=%x want=%d budget=%d hops=%d deadline=%v", i.Origin, i.Nonce, i.Want, i.Budget, i.Hops, i.Deadline) + unlessZero(" fresh=", i.Fresh)
	}
	return s
}

func (i Reached) String() string { return fmt.Sprintf("Reached %s", i.Peer) }

func (i Unheard) String() string { return fmt.Sprintf("Unheard %s", i.Peer) }

func (id QueryID) String() string {
	if id >= MaxQueryID {
		return fmt.Sprintf("s%d", uint64(id-MaxQueryID))
	}
	return fmt.Sprintf("q%d", uint64(id))
}

func peers(rs []wire.Record) string {
	names := make([]string, len(rs))
	for i, r := range rs {
		names[i] = string(r.Peer)
	}
	return "[" + strings.Join(names, " ") + "]"
}

func unlessZero(name string, d time.Duration) string {
	if d == 0 {
		return ""
	}
	return name + d.String()
}

func final(f bool) string {
	if f {
		return " final"
	}
	return ""
}
