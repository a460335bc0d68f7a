package routing

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/region"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// View is the part of the overlay that routing reads; *overlay.Overlay implements it. It is read during Step only.
type View interface {
	// Candidates returns the peers whose summaries match a key with fingerprint f, in a fixed order.
	Candidates(key []byte, f summary.Fingerprint) []overlay.Candidate
	// FalseMatches returns Σf, the mean number of false candidates of a query.
	FalseMatches() float64
	// Knowledge returns the claims of linked peers about their directories, sorted by peer.
	Knowledge() []overlay.Knowledge
	// Covers returns the range that the directory can vouch for: everybody in it is known.
	Covers() space.Range
	// Precise returns the range that the directory can vouch for, and in which few false matches are expected.
	Precise() space.Range
	// Peers returns the peers that know a range better than most, in a fixed order. It is empty where all peers know
	// the network equally well.
	Peers() []region.Contact
	// Contacts returns peers that can be asked about other ranges, in a fixed order; none if the directory is for
	// everybody.
	Contacts() []region.Contact
	// Linked returns the peers with an open link, sorted.
	Linked() []wire.PeerID
	// Fresh returns the age of our knowledge of a linked peer's keys. If the peer is no candidate for a key, it lacked the
	// key that long ago. The age is an hour or more if its keys are known to have changed since. ok is false when the age
	// is unknown.
	Fresh(p wire.PeerID) (age time.Duration, ok bool)
	// Origins returns the number of peers of which the directory holds a part.
	Origins() int
	// Record returns the record by which a peer can be dialled.
	Record(p wire.PeerID) (wire.Record, bool)
	// HasSummary reports whether the directory holds a part of a peer's summary.
	HasSummary(p wire.PeerID) bool
}

// Config holds the parameters of a [Router]. Zero values mean the stated defaults.
type Config struct {
	Self wire.PeerID           // this node; required
	Has  func(key []byte) bool // reports whether this node holds a key; required
	Rand *rand.Rand            // the only source of randomness; required
	// Fingerprint returns the fingerprint of a key under the network's seed; required.
	Fingerprint func(key []byte) summary.Fingerprint

	// Prior is the initial share of peers that hold a wanted key, in (0, 1); 0: 0.045. Outcomes refine it.
	Prior float64
	// Poor is the expected number of false matches (Σf) above which a query asks peers that know more precisely; 0: 4.
	Poor float64
	// PoorAll replaces Poor for All queries, which would probe every false match; 0: 1.
	PoorAll float64
	// Useless is the expected number of false matches above which a contact's answer does not replace own probing. It also
	// bounds the false matches expected among the names given to an asker. 0: 16.
	Useless float64
	// Incomplete reports whether the directory knows of peers without knowing what they hold. All queries then ask others
	// too, and are forwarded when none answers. nil: never. (Queries of either mode that find nobody are forwarded in any
	// case; own ones again and again while Incomplete is true.)
	Incomplete func() bool

	// Fresh is the greatest age of the knowledge of linked peers' keys that replaces a question, for queries that set
	// none; 0: 3 s. Below 0: everybody is asked.
	Fresh time.Duration

	Parallel int // confirmations of a query at a time, to begin with; 0: 16
	Fanout   int // children of a query each time that it is forwarded, and peers asked at a time for more contacts; 0: 3
	Hops     int // links that a forwarded query may travel; 0: 4

	BudgetAny int // most messages of an Any query; 0: 128
	BudgetAll int // most messages of an All query; 0: 640
	// BudgetContacts is the number of messages added to the budget of a query that asks contacts about ranges that the
	// directory does not cover, unless it has a budget of its own. So it can ask about each range of a network of some ten
	// thousand peers. Messages of contacts that do not answer, and those that children report, come back to the
	// budget, up to the same number again. 0: 256, but none if BudgetAny or BudgetAll is given.
	BudgetContacts int

	Timeout        time.Duration // time for a query without deadline, and the most for another peer's search; 0: 30 s
	HedgeAfter     time.Duration // time without an answer after which an Any query asks one peer more; 0: 400 ms
	ConfirmTimeout time.Duration // time after which a confirmation without an answer has failed; 0: 5 s
	AskTimeout     time.Duration // time after which a contact without an answer has failed; 0: 4 s

	MaxQueries      int // own queries open at a time; more are refused at once (Done with Err); 0: 1024
	MaxServedBudget int // most messages spent on a search of others, whatever it asks for; 0: 128

	Limits Limits // for tests and experiments; every node has the zero value
}

// Limits bounds what others can make a router believe, ask and remember. Zero values mean the stated defaults.
type Limits struct {
	Rest     time.Duration // time for which a peer that failed is not asked; 0: 4 s, so that a healed partition soon shows
	NameRest time.Duration // the same for a peer that is gone, or known only by name, maybe invented; 0: 1 min. Below 0: none
	Forgive  time.Duration // time after which a peer's last failure no longer counts; 0: 1 h. Below 0: none counts
	Fade     time.Duration // half-life of a reputation; 0: 5 min
	Credit   float64       // number added to the right names of each peer; 0: none
	Silent   int           // unanswered names from which a contact is given up if it gave no others; 0: 1
	Trust    float64       // least factor by which a peer's record lowers belief in its claims; 0: none
	Boasters int           // one linked peer in this number may overstate the peers that it knows; 0: 3
	Denials  int           // answers, 1 or 2, that name no holder before a range counts as empty; 0: 2
	Believed int           // names of a child, in a search for others, that count as holders before they confirm; 0: none
	Work     float64       // factor of the messages, and the searches at a time, that others may cause; 0: 1
	Visited  int           // most marks of earlier peers that travel with a query; 0: wire.MaxVisited. Below 0: none
}

func (l *Limits) defaults() {
	l.Rest = cmp.Or(l.Rest, 4*time.Second)
	l.NameRest = cmp.Or(l.NameRest, time.Minute)
	l.Forgive = cmp.Or(l.Forgive, time.Hour)
	l.Fade = cmp.Or(l.Fade, 5*time.Minute)
	l.Silent = cmp.Or(l.Silent, 1)
	l.Boasters = cmp.Or(l.Boasters, space.Voices)
	l.Denials = cmp.Or(l.Denials, 2)
	l.Work = cmp.Or(l.Work, 1)
	l.Visited = cmp.Or(l.Visited, wire.MaxVisited)
}

func (c *Config) defaults() {
	c.Prior = cmp.Or(c.Prior, 0.045)
	c.Poor = cmp.Or(c.Poor, 4)
	c.PoorAll = cmp.Or(c.PoorAll, 1)
	c.Useless = cmp.Or(c.Useless, 16)
	c.Fresh = cmp.Or(c.Fresh, 3*time.Second)
	c.Parallel = cmp.Or(c.Parallel, 16)
	c.Fanout = cmp.Or(c.Fanout, 3)
	c.Hops = cmp.Or(c.Hops, 4)
	if c.BudgetAny == 0 && c.BudgetAll == 0 {
		c.BudgetContacts = cmp.Or(c.BudgetContacts, 256)
	}
	c.BudgetAny = cmp.Or(c.BudgetAny, 128)
	c.BudgetAll = cmp.Or(c.BudgetAll, 640)
	c.Timeout = cmp.Or(c.Timeout, 30*time.Second)
	c.HedgeAfter = cmp.Or(c.HedgeAfter, 400*time.Millisecond)
	c.ConfirmTimeout = cmp.Or(c.ConfirmTimeout, 5*time.Second)
	c.AskTimeout = cmp.Or(c.AskTimeout, 4*time.Second)
	c.MaxQueries = cmp.Or(c.MaxQueries, 1024)
	c.MaxServedBudget = cmp.Or(c.MaxServedBudget, 128)
	c.Limits.defaults()
	if c.Incomplete == nil {
		c.Incomplete = func() bool { return false }
	}
}

// ErrConfig is matched by every error of [New].
var ErrConfig = errors.New("routing: bad configuration")

// check returns all faults, joined.
func (c *Config) check() error {
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf("%w: "+format, append([]any{ErrConfig}, args...)...))
		}
	}
	fault(c.Self == "", "Self is missing")
	fault(c.Has == nil, "Has is missing")
	fault(c.Rand == nil, "Rand is missing")
	fault(c.Fingerprint == nil, "Fingerprint is missing")
	fault(!(c.Prior > 0 && c.Prior < 1), "Prior %g is not in (0, 1)", c.Prior)
	fault(!(c.Poor > 0), "Poor %g is not positive", c.Poor)
	fault(!(c.PoorAll > 0), "PoorAll %g is not positive", c.PoorAll)
	fault(!(c.Useless >= c.Poor), "Useless %g is below Poor %g", c.Useless, c.Poor)
	for name, v := range c.counts() {
		fault(v < 0, "%s %d is negative", name, v)
	}
	return errors.Join(faults...)
}

// counts iterates over the parameters that must not be negative.
func (c *Config) counts() func(yield func(string, int64) bool) {
	return func(yield func(string, int64) bool) {
		_ = yield("Parallel", int64(c.Parallel)) && yield("Fanout", int64(c.Fanout)) && yield("Hops", int64(c.Hops)) &&
			yield("BudgetAny", int64(c.BudgetAny)) && yield("BudgetAll", int64(c.BudgetAll)) && yield("BudgetContacts", int64(c.BudgetContacts)) &&
			yield("Timeout", int64(c.Timeout)) && yield("HedgeAfter", int64(c.HedgeAfter)) &&
			yield("ConfirmTimeout", int64(c.ConfirmTimeout)) && yield("AskTimeout", int64(c.AskTimeout)) &&
			yield("MaxQueries", int64(c.MaxQueries)) && yield("MaxServedBudget", int64(c.MaxServedBudget))
	}
}
