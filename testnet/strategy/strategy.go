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
	Name   string // in tables and on the command line
	Source string // the paper or system that it follows
	Model  string // the parts that are modelled and left out, in a sentence or two

	// Parameters are the fields of World.Params that the strategy uses: experiments vary no others.
	Parameters []Parameter

	// Open prepares a run: it is called once, before anything happens, and returns the maker of the peers. It refuses
	// parameters that make no sense.
	Open func(World) (Factory, error)

	// Older turns a peer that Open's Factory made into one of the version before this one; nil: there is none.
	Older func(Peer) Peer

	// Adversaries are the ways in which peers of this strategy misbehave, by kind. Each wraps a peer from Open's
	// Factory. Package scenario has the kinds that are not of one strategy.
	Adversaries map[string]func(Peer, Invented) Peer

	// Static means that the peers ignore changes of their collections: what they have told of them stays as it was.
	Static bool

	// Connects means that the peers choose their links themselves, by Host.Connect. Otherwise links are the topology's,
	// and a lost one is replaced by one to a peer drawn at random.
	Connects bool
}

// Invented are the identities that an adversary makes up. No peer has them: messages to them fail.
type Invented struct {
	First  ID // of them; World.Peers or above
	Number int
}

// MisdeedEvery is the time between two misdeeds of an adversary that makes up few identities.
const MisdeedEvery = 250 * time.Millisecond

// Pace returns the time between two misdeeds of an adversary that uses this number of identities in each. All of them
// have a turn within a minute.
func (i Invented) Pace(each int) time.Duration {
	return max(time.Millisecond, min(MisdeedEvery, time.Minute/time.Duration(max(1, i.Number/each))))
}

// Factory makes the peer of a host when it comes online: at the start, and again after each absence. Only the
// collection outlives a restart. It may be called for several hosts at a time.
type Factory func(Host) Peer

// Peer is one peer's machine.
type Peer interface {
	// Step takes in what happened at an instant, counted from the start of the run. Time never goes back.
	Step(now time.Duration, in Input)
}

// Measured is a Peer that measures its knowledge of others.
type Measured interface {
	// DirectoryBytes is the size of all that it keeps about other peers, as on the wire.
	DirectoryBytes() int
	// Covers is the share of the network's peers whose collections it knows; below 0: it does not know collections.
	Covers() float64
}

// ID names a peer of a run: they are numbered from 0.
type ID int32

// QueryID names a query of a run. 0 is none: a message without a query is upkeep.
type QueryID uint32

// Key is a key that is looked for.
type Key struct {
	Number      uint32              // among the keys of the run
	Fingerprint summary.Fingerprint // its keyed hash: filters are made of these
}

// KeyBytes is the length of a key on the wire: a SHA-256 multihash.
const KeyBytes = 34

// Query asks for holders of a key that the asker lacks.
type Query struct {
	ID       QueryID
	Key      Key
	All      bool          // every holder is wanted; else one
	Deadline time.Duration // holders found later don't count
}

// World has the facts that all peers of a run share. The functions are safe to call at any time and always give the
// same answer, except Online, which changes between steps only.
type World struct {
	Peers  int
	Seed   uint64 // of the run
	Params Params
	Notes  bool // peers take notes if they can, for viewers of the run: see Watched
	Star   bool // all begin at the same few peers: these have no more places for links than nodes have

	Rates      func(ID) (up, down uint64)     // declared rates of a peer's line, bit/s
	Collection func(ID) []summary.Fingerprint // of a peer, in no particular order; the caller's to change

	// What no peer can know: for oracles, and for models that begin in their steady state.
	Holders func(Key) []ID              // all holders of a key, online or not, ascending; not to be changed
	Online  func(ID) bool               // reports whether a peer is there
	Latency func(a, b ID) time.Duration // one way, without queueing
}

// ErrUnknown is matched when no strategy has a name.
var ErrUnknown = errors.New("unknown strategy")

// Share returns the share of the peers there of which something is so.
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

// Partner draws one of a number of peers, other than the host's own, of which something is so; where it finds none in
// some tries, one with a link.
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

// Find picks strategies by name, in the order of the names. Errors match ErrUnknown.
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

// Names lists the names of strategies.
func Names(of []Strategy) []string {
	names := make([]string, len(of))
	for i, s := range of {
		names[i] = s.Name
	}
	return names
}

// Scramble permutes the numbers in a way that looks random (the finalizer of SplitMix64).
func Scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// AppendBinary appends the bytes that stand for a key, KeyBytes of them.
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
