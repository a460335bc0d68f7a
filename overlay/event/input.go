package event

import (
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Input is something that happened.
type Input interface {
	// For returns the machines that the input is for.
	For() Machines
}

// Machines is a set of machines: those that package core joins, Core itself and the driver.
type Machines uint8

// The machines, in the order in which they get an input.
const (
	Overlay Machines = 1 << iota
	Tails
	Routing
	Core   // joins the others, and gets inputs last
	Driver // gets those effects that are also inputs
)

// Published carries a new epoch of the node's own summary, with its signed header and the node's own signed record.
type Published struct {
	Envelope []byte
	Record   []byte
	Stream   *summary.Prefix
}

// LinkOpened means that there is a connection to a peer that speaks the protocols.
type LinkOpened struct {
	Peer     wire.PeerID
	Group    string // address group of the connection, as in package admission; "": not known
	Outbound bool
}

// LinkClosed means that the last connection to a peer is gone.
type LinkClosed struct{ Peer wire.PeerID }

// Meshed means that a linked peer entered the pubsub mesh, or left it. Parts are traded with mesh peers.
type Meshed struct {
	Peer wire.PeerID
	In   bool
}

// HelloReceived carries a linked peer's hello.
type HelloReceived struct {
	Peer  wire.PeerID
	Hello wire.Hello
}

// LinkRefused means that a linked peer has no room for the link, and named other peers instead. [LinkClosed] follows.
type LinkRefused struct {
	Peer  wire.PeerID
	Names wire.Names
}

// CatalogueReceived carries the announcements and wants of one catalogue from a linked peer.
type CatalogueReceived struct {
	From  wire.PeerID
	Items []wire.Item
	Bytes int // bytes of the message on the wire
}

// PartsReceived carries a run of parts, or a delta. A run that starts at part 0 comes with the signed header and the
// origin's record. A delta comes with the header, and with the record unless the receiver has it.
type PartsReceived struct {
	From      wire.PeerID
	Transport Transport
	Group     wire.GroupID
	wire.Parts
	Bytes int           // bytes of the message on the wire
	Came  time.Duration // time of arrival, if that was before now; 0: now
}

// DialFailed means that a peer could not be reached at any of its certified addresses.
type DialFailed struct {
	Peer wire.PeerID
	Here bool // this node had no room for a connection: the peer is not to blame
}

// Charged counts bytes that the driver sent to a peer without an effect: pubsub's own control messages.
type Charged struct {
	Peer  wire.PeerID
	Bytes int
}

// Lost means that a queue was full, so a message to a peer was dropped. The driver does not report a stream of tails
// that breaks for another reason, because the link is as fast as before.
type Lost struct {
	Peer  wire.PeerID
	Tails bool // only tails were lost
}

// Doubted means that a linked peer claims that it could not reach Peer. Peer may be gone, or the claim may be a lie. If
// Back is set, the linked peer takes its claim back: others may be back, too, as after a partition. If that is a lie,
// searches ask in vain.
type Doubted struct {
	Peer wire.PeerID
	Back bool
}

// Unreachable means that no connection to a peer could be made when the core looked for it.
type Unreachable struct{ Peer wire.PeerID }

// Outcome counts confirmations by a peer: keys that it held, and keys that its summary matched but that it did not
// hold.
type Outcome struct {
	Peer         wire.PeerID
	Hits, Misses int
}

// RoundTrip is a measured round trip to a peer.
type RoundTrip struct {
	Peer wire.PeerID
	RTT  time.Duration
}

// Tick means that the time of a [Wake] has come.
type Tick struct{}

func (Published) For() Machines         { return Overlay | Tails | Core }
func (LinkOpened) For() Machines        { return Overlay }
func (LinkClosed) For() Machines        { return Overlay | Tails }
func (Meshed) For() Machines            { return Overlay }
func (HelloReceived) For() Machines     { return Overlay | Tails | Routing | Core }
func (LinkRefused) For() Machines       { return Overlay }
func (CatalogueReceived) For() Machines { return Overlay }
func (PartsReceived) For() Machines     { return Overlay }
func (DialFailed) For() Machines        { return Overlay }
func (Charged) For() Machines           { return Overlay }
func (Lost) For() Machines              { return Overlay | Tails }
func (Doubted) For() Machines           { return Routing }
func (Unreachable) For() Machines       { return Tails | Routing }
func (Outcome) For() Machines           { return Overlay }
func (RoundTrip) For() Machines         { return Overlay }
func (Learned) For() Machines           { return Tails | Driver }
func (ContactAnswered) For() Machines   { return Overlay }
func (ContactsWanted) For() Machines    { return Overlay }
func (ContactsNamed) For() Machines     { return Routing }
func (Tick) For() Machines              { return Overlay | Tails | Routing }
