package testnet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/venn-p2p/venn/testnet/holdings"
	"github.com/venn-p2p/venn/testnet/link"
	"github.com/venn-p2p/venn/testnet/workload"
)

// Config describes a run. The zero value of each field is a default.
type Config struct {
	Peers   int    // 0: all of the data; else at least 2
	Data    string // path of a table or folder of collections, see package workload; "": the Debian data
	Chunk   uint64 // bytes of a file per key; 0: 16 KiB
	Queries int    // of each kind; 0: 1000
	// QueriesLike is the rule of package holdings by which queries are drawn, or a log of seconds, peers and keys; its
	// times do not count. "": uniform.
	QueriesLike  string
	Begin        int           // the first peers, at which all others begin; 0: 1
	Links        link.Mix      // nil: link.DefaultMix
	Transport    Transport     // "": TCP
	Shape        bool          // lines of TCP have their classes' rates, and take 10 ms; else the machine's
	Seed         uint64        // of collections, queries, link classes and identities
	Warmup       time.Duration // from the mesh's forming to the first query; 0: DefaultWarmup, negative: none
	SummaryShare float64       // of the slower end's declared rate, for summaries; 0: a third
	Memory       int           // bytes that each peer may keep of others, from MinMemory; 0: the node's default
	Connections  int           // that each peer makes and accepts at most, from MinConnections; 0: the node's default
	Origins      int           // peers whose summaries each peer may keep; 0: the node's default
	NoShare      bool          // nodes share no cache of decoded summaries: slower, the same bytes and answers
	Churn        float64       // share of every collection that changes in a minute while queries run, from 0 to 1
	Adds         float64       // new keys a second that each peer adds while queries run, for others to find at once; at most MaxAdds
	Minutes      float64       // of Churn and Adds; 0: 5. Queries are spread over them. Without either they run as fast as they can
	Faulty       int           // further peers that misbehave, see package fault
	FindTimeout  time.Duration // of one query; 0: DefaultFindTimeout
	Timeout      time.Duration // of the whole run, which then reports its figures so far; 0: none
	Part         Part          // of the peers, that run in this process; the zero value: all

	// Progress, if not nil, receives the progress of the run. It is called from Run's goroutine.
	Progress func(Progress)
	// Hold, if not nil, is called with the report while the peers still run; they are closed when it returns.
	Hold func(*Report, []Address)
	// Observer, if not nil, receives the peers and the queries as the run goes.
	Observer Observer
}

// Transport is the transport between peers.
type Transport string

// The transports.
const (
	TCP  Transport = "tcp"  // TCP on loopback
	QUIC Transport = "quic" // QUIC on loopback
	Sim  Transport = "sim"  // QUIC over simulated links, which have the rates of their classes
)

// Transports are all transports.
var Transports = []Transport{TCP, QUIC, Sim}

// Defaults of Config.
const (
	DefaultQueries      = 1000
	DefaultSummaryShare = 1.0 / 3
	DefaultMinutes      = 5
	DefaultFindTimeout  = 10 * time.Second

	MinMemory      = 1 << 16
	MinConnections = 13 // five eighths of them are links, for eight neighbours
)

// slowLine is the rate, in bit/s, up to which lines are slow: a network of slow lines alone takes twice as long to warm
// up.
const slowLine = 1_000_000

// DefaultWarmup returns the warm-up for the given number of peers. It is 30 s, and beyond 120 peers in proportion,
// because a slow line takes that long to carry a sample of each. Where no line is faster than 1 Mbit/s it is twice as
// long: nobody carries more than that for the others.
func DefaultWarmup(peers int, links link.Mix) time.Duration {
	warmup := 30 * time.Second * time.Duration(max(peers, 120)) / 120
	if slices.ContainsFunc(links, func(c link.Class) bool { return c.Rate > slowLine }) {
		return warmup
	}
	return 2 * warmup
}

// leastRate is the slowest line, in bit/s, that a node declares: see node.WithBandwidth.
const leastRate = 8000

// ErrConfig is matched by the error for a Config that cannot be run.
var ErrConfig = errors.New("testnet: bad configuration")

// check puts in the defaults and returns every fault.
func (c *Config) check() error {
	c.Queries = cmp.Or(c.Queries, DefaultQueries)
	c.Chunk = cmp.Or(c.Chunk, workload.DefaultChunk)
	c.Transport = cmp.Or(c.Transport, TCP)
	c.Minutes = cmp.Or(c.Minutes, DefaultMinutes)
	c.FindTimeout = cmp.Or(c.FindTimeout, DefaultFindTimeout)
	c.SummaryShare = cmp.Or(c.SummaryShare, DefaultSummaryShare)
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: "+format, append([]any{ErrConfig}, args...)...))
	}
	if c.Links == nil {
		mix, err := link.ParseMix(link.DefaultMix)
		if err != nil {
			faults = append(faults, err)
		}
		c.Links = mix
	}
	for _, class := range c.Links {
		if class.Rate < leastRate {
			fault("links of %d bit/s, want %d or more", class.Rate, leastRate)
		}
	}
	if c.Peers < 0 || c.Peers == 1 || c.Peers > workload.MaxPeers {
		fault("%d peers, want 2 to %d", c.Peers, workload.MaxPeers)
	}
	if c.QueriesLike != "" && holdings.CheckRule(c.QueriesLike) != nil {
		if _, err := os.Stat(c.QueriesLike); err != nil {
			fault("queries like %q: neither a rule (%s) nor a log", c.QueriesLike, strings.Join(holdings.Rules, ", "))
		}
	}
	if c.Begin = cmp.Or(c.Begin, 1); c.Begin < 1 {
		fault("peers begin at %d others, want 1 or more", c.Begin)
	}
	if c.Queries < 0 {
		fault("%d queries, want 1 or more", c.Queries)
	}
	if err := c.Transport.Check(); err != nil {
		faults = append(faults, err)
	}
	if c.Shape && c.Transport != TCP {
		fault("lines of %s are not shaped, those of %s are", c.Transport, TCP)
	}
	if !(c.SummaryShare > 0 && c.SummaryShare <= 1) {
		fault("summary share %v, want above 0 and at most 1", c.SummaryShare)
	}
	if c.Connections < 0 || c.Connections > 0 && c.Connections < MinConnections {
		fault("%d connections, want %d or more", c.Connections, MinConnections)
	}
	if c.Memory != 0 && c.Memory < MinMemory {
		fault("memory of %d bytes, want %d or more", c.Memory, MinMemory)
	}
	if c.Origins < 0 {
		fault("summaries of %d peers, want 0 or more", c.Origins)
	}
	if !(c.Churn >= 0 && c.Churn <= 1) {
		fault("churn %v, want 0 to 1", c.Churn)
	}
	if !(c.Adds >= 0 && c.Adds <= MaxAdds) {
		fault("%v keys added a second, want 0 to %d", c.Adds, MaxAdds)
	}
	if !(c.Minutes > 0 && c.Minutes <= 1e6) {
		fault("%v minutes, want above 0 and at most a million", c.Minutes)
	}
	if c.Faulty < 0 || c.Faulty > workload.MaxPeers {
		fault("%d faulty peers, want 0 to %d", c.Faulty, workload.MaxPeers)
	}
	if c.Timeout < 0 || c.FindTimeout < 0 {
		fault("timeouts of %v for the run and %v for a query, want 0 or more", c.Timeout, c.FindTimeout)
	}
	if c.Part != (Part{}) {
		faults = append(faults, c.checkPart()...)
	}
	return errors.Join(faults...)
}

// limit has a run end after its Timeout.
func (c *Config) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.Timeout > 0 {
		return context.WithTimeout(ctx, c.Timeout)
	}
	return context.WithCancel(ctx)
}

// Check refuses a transport that there is not. The error matches ErrConfig.
func (t Transport) Check() error {
	if slices.Contains(Transports, t) {
		return nil
	}
	return fmt.Errorf("%w: unknown transport %q, want one of %v", ErrConfig, string(t), Transports)
}

// random returns the source of randomness for one purpose: draws for one purpose do not shift those for another.
func (c *Config) random(purpose purpose) *rand.Rand {
	return rand.New(rand.NewPCG(c.Seed, uint64(purpose)))
}

type purpose uint64

const (
	dealing purpose = iota + 1
	identifying
	joining
	sampling
	misbehaving
	wiring
	adding
)
