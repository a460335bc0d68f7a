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
	Chunk   uint64 // bytes of a file that make one key; 0: 16 KiB
	Queries int    // number of queries of each kind; 0: 1000
	// QueriesLike is the rule of package holdings by which queries are drawn, or the path of a log of seconds, peers
	// and keys. The log's times are ignored. "": uniform.
	QueriesLike  string
	Begin        int           // number of first peers, at which all others begin; 0: 1
	Links        link.Mix      // classes of lines with their weights; nil: link.DefaultMix
	Transport    Transport     // transport between peers; "": TCP
	Shape        bool          // TCP lines get their classes' rates and 10 ms of latency; false: the machine's
	Seed         uint64        // seed of collections, queries, link classes and identities
	Warmup       time.Duration // time from the mesh's forming to the first query; 0: DefaultWarmup, negative: none
	SummaryShare float64       // share of the slower end's declared rate that summaries may take; 0: a third
	Memory       int           // bytes that each peer may keep of others, at least MinMemory; 0: the node's default
	Connections  int           // most connections of a peer, at least MinConnections; 0: the node's default
	Origins      int           // most peers whose summaries a peer may keep; 0: the node's default
	NoShare      bool          // nodes share no cache of decoded summaries: slower, the same bytes and answers
	Churn        float64       // share of every collection that changes in a minute while queries run, from 0 to 1
	Adds         float64       // keys a second that each peer adds while queries run, and others seek; at most MaxAdds
	Minutes      float64       // time of Churn and Adds, over which queries are spread; 0: 5. Unused if both are 0
	Faulty       int           // number of further peers that misbehave, see package fault
	FindTimeout  time.Duration // longest time of one query; 0: DefaultFindTimeout
	Timeout      time.Duration // longest time of the whole run, which then reports its figures so far; 0: no limit
	Part         Part          // selects the peers that run in this process; the zero value: all

	// Progress, if not nil, receives the progress of the run. It is called from Run's goroutine.
	Progress func(Progress)
	// Hold, if not nil, is called with the report, also of an interrupted run, while the peers still run. They are closed
	// when it returns.
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
// because a slow line takes that long to carry a sample of each peer. If no line is faster than 1 Mbit/s, it is twice
// as long, because no peer carries more than that for others.
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
	if c.Links == nil {
		mix, err := link.ParseMix(link.DefaultMix)
		if err != nil {
			return err
		}
		c.Links = mix
	}
	c.Begin = cmp.Or(c.Begin, 1)
	var f faults
	for _, class := range c.Links {
		f.note(class.Rate < leastRate, "links of %d bit/s, want %d or more", class.Rate, leastRate)
	}
	badPeers := c.Peers < 0 || c.Peers == 1 || c.Peers > workload.MaxPeers
	f.note(badPeers, "%d peers, want 2 to %d", c.Peers, workload.MaxPeers)
	if c.QueriesLike != "" && holdings.CheckRule(c.QueriesLike) != nil {
		_, err := os.Stat(c.QueriesLike)
		rules := strings.Join(holdings.Rules, ", ")
		f.note(err != nil, "queries like %q: neither a rule (%s) nor a log", c.QueriesLike, rules)
	}
	f.note(c.Begin < 1, "peers begin at %d others, want 1 or more", c.Begin)
	f.note(c.Queries < 0, "%d queries, want 1 or more", c.Queries)
	if err := c.Transport.Check(); err != nil {
		f = append(f, err)
	}
	f.note(c.Shape && c.Transport != TCP, "lines of %s are not shaped, those of %s are", c.Transport, TCP)
	f.note(!(c.SummaryShare > 0 && c.SummaryShare <= 1), "summary share %v, want above 0 and at most 1", c.SummaryShare)
	f.note(c.Connections != 0 && c.Connections < MinConnections, "%d connections, want %d or more", c.Connections, MinConnections)
	f.note(c.Memory != 0 && c.Memory < MinMemory, "memory of %d bytes, want %d or more", c.Memory, MinMemory)
	f.note(c.Origins < 0, "summaries of %d peers, want 0 or more", c.Origins)
	f.note(!(c.Churn >= 0 && c.Churn <= 1), "churn %v, want 0 to 1", c.Churn)
	f.note(!(c.Adds >= 0 && c.Adds <= MaxAdds), "%v keys added a second, want 0 to %d", c.Adds, MaxAdds)
	f.note(!(c.Minutes > 0 && c.Minutes <= 1e6), "%v minutes, want above 0 and at most a million", c.Minutes)
	f.note(c.Faulty < 0 || c.Faulty > workload.MaxPeers, "%d faulty peers, want 0 to %d", c.Faulty, workload.MaxPeers)
	badTimes := c.Timeout < 0 || c.FindTimeout < 0
	f.note(badTimes, "timeouts of %v for the run and %v for a query, want 0 or more", c.Timeout, c.FindTimeout)
	if c.Part != (Part{}) {
		p := &c.Part
		p.At = cmp.Or(p.At, DefaultAt)
		f.note(p.Of < 1 || p.Of > MaxParts, "%d parts, want 1 to %d", p.Of, MaxParts)
		f.note(p.Of >= 1 && (p.I < 0 || p.I >= p.Of), "part %d of %d", p.I, p.Of)
		f.note(c.Transport == Sim, "simulated links don't reach other parts")
		f.plain(c, "parts", "a part")
	}
	return errors.Join(f...)
}

// faults are the faults of a Config. They match ErrConfig.
type faults []error

// note notes a fault, if there is one.
func (f *faults) note(bad bool, format string, args ...any) {
	if bad {
		*f = append(*f, fmt.Errorf("%w: %w", ErrConfig, fmt.Errorf(format, args...)))
	}
}

// plain notes a fault for each setting that only a run of nodes in one process may have. in and of name the run at hand
// in the messages, such as "parts" and "a part".
func (f *faults) plain(c *Config, in, of string) {
	f.note(c.Churn > 0, "churn in %s", in)
	f.note(c.Adds > 0, "keys added in %s", in)
	f.note(c.Faulty > 0, "faulty peers in %s", in)
	f.note(c.Hold != nil, "the peers of %s don't stay", of)
}

// limit returns a context that ends after the run's Timeout, if it has one.
func (c *Config) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.Timeout > 0 {
		return context.WithTimeout(ctx, c.Timeout)
	}
	return context.WithCancel(ctx)
}

// Check returns an error that matches ErrConfig if the transport is unknown.
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
