package strategy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/venn-p2p/venn/summary"
)

// Strategy is a way of finding the holders of a key.
type Strategy struct {
	Name   string // name in tables and on the command line
	Source string // the paper or system that it follows
	Model  string // parts that are modelled and parts that are left out, in a few sentences

	// Parameters are the parameters that the strategy uses. Experiments vary no others.
	Parameters []Parameter

	// Open prepares a run, and returns the factory of its peers. It is called once, before anything happens. It
	// returns an error for invalid parameters.
	Open func(World) (Factory, error)

	// Older turns a peer that the factory made into one of the version before this one; nil: there is none.
	Older func(Peer) Peer

	// Adversaries has the ways in which peers of this strategy misbehave, by kind. Each wraps a peer that the
	// factory made. Package scenario has the kinds that any strategy has.
	Adversaries map[string]func(Peer, Invented) Peer

	// Static means that the peers ignore changes of their collections: other peers keep knowing the collections of
	// the start.
	Static bool

	// Connects means that the peers choose their links themselves, by Host.Connect. Otherwise the topology sets the
	// links, and a link to a peer drawn at random replaces a lost one.
	Connects bool
}

// Invented is a range of identities that an adversary makes up. No peer has them: messages to them fail.
type Invented struct {
	First  ID // lowest made-up identity, at least World.Peers
	Number int
}

// MisdeedEvery is the time between two misdeeds of an adversary that makes up few identities.
const MisdeedEvery = 250 * time.Millisecond

// Pace returns the time between two misdeeds of an adversary that uses a number of identities in each. It uses all
// of them within a minute, but makes at most a misdeed per millisecond.
func (i Invented) Pace(each int) time.Duration {
	return max(time.Millisecond, min(MisdeedEvery, time.Minute/time.Duration(max(1, i.Number/each))))
}

// Factory makes the peer of a host when it comes online: at the start, and again after each absence. Of an earlier
// session only the collection remains, and what a strategy keeps on disk. It may be called for several hosts at a
// time.
type Factory func(Host) Peer

// Peer is one peer's machine.
type Peer interface {
	// Step handles an input that happened at an instant, counted from the start of the run. The instants never
	// decrease.
	Step(now time.Duration, in Input)
}

// Measured is a Peer that measures what it knows of others.
type Measured interface {
	// DirectoryBytes returns the size in bytes of all that the peer keeps about others, as on the wire.
	DirectoryBytes() int
	// Covers returns the share of the network's peers whose collections the peer knows; below 0: it knows no
	// collections.
	Covers() float64
}

// ID is the number of a peer of a run, from 0.
type ID int32

// QueryID is the number of a query of a run, from 1. 0 means no query: a message without a query is upkeep.
type QueryID uint32

// Key is a key of a run's collections.
type Key struct {
	Number      uint32              // number among the keys of the run
	Fingerprint summary.Fingerprint // its keyed hash: filters are made of these
}

// KeyBytes is the length of a key on the wire: a SHA-256 multihash.
const KeyBytes = 34

// Query asks for holders of a key that the asker lacks.
type Query struct {
	ID       QueryID
	Key      Key
	All      bool          // the asker wants every holder; else one
	Deadline time.Duration // holders found later do not count
}

// World has the facts that all peers of a run share. Its functions may be called at any time. Apart from Online and
// Holders, and Collection after a change, they always return the same. The results of these change between steps only.
type World struct {
	Peers  int
	Seed   uint64 // seed of the run
	Params Params
	Notes  bool // peers keep notes for viewers of the run, if they can: see Watched in package strategy/venn

	Rates func(ID) (up, down uint64) // declared rates of a peer's line, bit/s
	// keys of a peer, in no particular order; the caller may change the slice
	Collection func(ID) []summary.Fingerprint

	// No real peer can know the following. It is for oracles, and for models that begin in their steady state.
	Holders func(Key) []ID              // holders of a key, online or not, ascending; must not be changed
	Online  func(ID) bool               // reports whether a peer is online
	Latency func(a, b ID) time.Duration // one-way latency, without queueing
}

// ErrUnknown is matched by the error for a name that no strategy has.
var ErrUnknown = errors.New("unknown strategy")

// Share returns the share of the online peers for which so returns true.
func (w World) Share(so func(ID) bool) float64 {
	n, there := 0, 0
	for p := range ID(w.Peers) {
		if w.Online(p) {
			if there++; so(p) {
				n++
			}
		}
	}
	return float64(n) / float64(max(1, there))
}

// Partner draws one of the peers numbered below peers, not the host's own, for which so returns true. If 32 draws
// give none, it draws a peer with a link.
func Partner(h Host, peers int, so func(ID) bool) (ID, bool) {
	for range 32 {
		if p := ID(h.Rand().IntN(peers)); p != h.Self() && so(p) {
			return p, true
		}
	}
	links := h.Links()
	if len(links) == 0 {
		return 0, false
	}
	return links[h.Rand().IntN(len(links))], true
}

// Find returns the strategies with the names, in the order of the names. Errors match ErrUnknown.
func Find(from []Strategy, names ...string) ([]Strategy, error) {
	var out []Strategy
	for _, name := range names {
		i := slices.IndexFunc(from, func(s Strategy) bool { return s.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("strategy: %w %q: there are %v", ErrUnknown, name, Names(from))
		}
		out = append(out, from[i])
	}
	return out, nil
}

// Names returns the names of strategies.
func Names(of []Strategy) []string {
	names := make([]string, len(of))
	for i, s := range of {
		names[i] = s.Name
	}
	return names
}

// Scramble permutes the 64-bit numbers so that the results look random (SplitMix64: its increment and finalizer).
func Scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// AppendBinary appends a key as KeyBytes bytes.
func (k Key) AppendBinary(b []byte) []byte {
	b = append(b, make([]byte, KeyBytes-12)...)
	b = binary.BigEndian.AppendUint64(b, uint64(k.Fingerprint))
	return binary.BigEndian.AppendUint32(b, k.Number)
}

// ParseKey inverts AppendBinary.
func ParseKey(b []byte) Key {
	return Key{
		Fingerprint: summary.Fingerprint(binary.BigEndian.Uint64(b[KeyBytes-12:])),
		Number:      binary.BigEndian.Uint32(b[KeyBytes-4:]),
	}
}
