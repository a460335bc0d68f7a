package routing

import (
	"fmt"
	"time"

	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

// QueryID names a query. The caller chooses IDs below [MaxQueryID], unused by its open queries. The machine uses higher
// IDs for requests that it serves; they appear in its Asks.
type QueryID uint64

// MaxQueryID is the first ID that callers may not use.
const MaxQueryID QueryID = 1 << 63

// Query is a caller's query. It looks for other peers: this node is never a provider, and Stats.Self reports whether it
// holds the key itself. If it does, an Any query for one holder ends at once, unless Others is set.
type Query struct {
	ID       QueryID
	Key      []byte // at most [MaxKey] bytes; must not change while the query is open
	Mode     wire.Mode
	Want     int           // Any: providers wanted; 0: 1. All: ignored
	Others   bool          // look for others though this node holds the key
	Direct   bool          // this node alone asks: nobody forwards the query
	Private  bool          // ask for private keys, too: the answer is for this node's owner alone
	Budget   int           // most messages, forwarding included; 0: Config.BudgetAny or BudgetAll, and BudgetContacts
	Fresh    time.Duration // greatest age of knowledge that replaces a question; 0: [Config.Fresh]. Below 0: none does
	Deadline time.Duration // instant on the core's clock; 0: [Config.Timeout] from now
}

// MaxKey is the longest key, in bytes.
const MaxKey = wire.MaxKey

// End is the reason why a query ended.
type End uint8

const (
	// Enough: the wanted number of providers was found.
	Enough End = iota
	// Exhausted: everybody worth asking was asked.
	Exhausted
	// OutOfBudget: more could have been asked with a larger budget.
	OutOfBudget
	// OutOfTime: the deadline came.
	OutOfTime
	// Cancelled by the caller.
	Cancelled
	// Refused: the query never ran; Done.Err has the reason.
	Refused
)

func (e End) String() string {
	return name(int(e), "enough", "exhausted", "out of budget", "out of time", "cancelled", "refused")
}

// Stats is the cost and the outcome of a query.
type Stats struct {
	End         End
	Self        bool // this node holds the key
	Found       int  // providers, all of them other peers
	Probes      int  // confirmations asked, including repeats after a failure
	FalseProbes int  // confirmations answered with no, by peers with a match or a name
	Messages    int  // requests and answers, including those that forwarding caused elsewhere
	Elapsed     time.Duration
	Covered     float64 // share of all places that the directory covers or a contact has answered for; 1: all
	// AsOf is the age, at the end of the query, of the oldest knowledge of a linked peer's keys that replaced a question
	// to it. 0: no question was replaced. Knowledge replaces questions while no holder is found, here or at a peer that
	// the query was forwarded to; a child's counts whether or not others find a holder. The answers of contacts have no
	// age.
	AsOf      time.Duration
	Explain   []Reason // the questions, in the order of asking
	Inquiries int      // peers asked for more contacts, besides those in Explain; the overlay chooses them
}

// Why is the reason why a peer was asked.
type Why uint8

const (
	// Matched: its summary here matches the key.
	Matched Why = iota
	// Named: a contact named it.
	Named
	// Returned: a forwarded query found it.
	Returned
	// Forwarded: the query was forwarded to it.
	Forwarded
	// Linked: nothing indicated it; all linked peers were asked.
	Linked
	// Contact: it was asked for candidates of a range that is not known here, or known in an imprecise way.
	Contact
)

func (w Why) String() string {
	return name(int(w), "matched", "named", "returned", "forwarded", "linked", "contact")
}

// Result is the outcome of one question.
type Result uint8

const (
	// Pending: nothing yet, when the query ended.
	Pending Result = iota
	// Holds the key. A peer that was asked for candidates may have named others, too.
	Holds
	// Lacks the key.
	Lacks
	// Failed to answer.
	Failed
	// Answered, of a contact or a forwarded query.
	Answered
)

func (r Result) String() string {
	return name(int(r), "pending", "holds", "lacks", "failed", "answered")
}

// Reason explains one question of a query.
type Reason struct {
	Peer        wire.PeerID
	Why         Why
	Probability float64 // probability that it holds the key; 0 for contacts and forwarding
	Result      Result
	Names       int           // number of peers named by a contact or a forwarded query
	At          time.Duration // time from the query's begin to the question
	Took        time.Duration // time from the question to the last answer, or until it was given up; 0: pending
	Bytes       int           // size of question and answers, as the host counts it; 0: not known
	// Range is the range that a contact's answer counts for. It is valid if Ranged; only contacts that have answered
	// have one.
	Range  space.Range
	Ranged bool
}

func (r Reason) String() string {
	if r.Why == Forwarded || r.Why == Contact {
		return fmt.Sprintf("%s %s: %s, %d names", r.Peer, r.Why, r.Result, r.Names)
	}
	return fmt.Sprintf("%s %s p=%.3f: %s", r.Peer, r.Why, r.Probability, r.Result)
}

func name(i int, names ...string) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("?%d", i)
}
