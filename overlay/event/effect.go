package event

import (
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// Effect is something that the driver must do. An effect that is also an [Input] goes to other machines; the driver
// itself gets only [Learned] of them. The effects are the types of this file and the types that each machine declares.
type Effect any

// SayHello sends a hello to a linked peer.
type SayHello struct {
	To    wire.PeerID
	Hello wire.Hello
}

// SendCatalogue sends announcements and asks to a mesh peer, by pubsub.
type SendCatalogue struct {
	To    wire.PeerID
	Items []wire.Item
}

// SendParts sends a run of parts to a mesh peer, by pubsub. Envelope and Record are set when the run starts at part 0.
// Or it sends a delta to the group's epoch, with the Envelope, and with the Record unless the receiver has the record.
type SendParts struct {
	To    wire.PeerID
	Group wire.GroupID
	wire.Parts
}

// Connect makes a peer a neighbour: the driver dials it if it is not linked, and protects the connection.
// [LinkOpened] (if the peer was not linked) or [DialFailed] answers it.
type Connect struct{ To wire.Record }

// Protect keeps the connection of a linked peer that chose this node as its neighbour.
type Protect struct{ Peer wire.PeerID }

// Disconnect removes a peer from the neighbours. The driver no longer protects the connection, and closes it if
// nothing else needs it.
type Disconnect struct{ Peer wire.PeerID }

// Audit checks a neighbour's claims about our keys: the driver asks it for the keys that rank.Draw draws. An [Outcome]
// answers the audit, or nothing does.
type Audit struct {
	Of     wire.Record
	Claims *summary.Prefix
}

// Report reports a peer's misbehaviour, for pubsub's scoring and for metrics.
type Report struct {
	Peer  wire.PeerID
	Fault Fault
}

// Learned means that more is known of an origin's collection.
type Learned struct {
	Origin    wire.PeerID
	Epoch     summary.Epoch
	Parts     int
	Transport Transport
	Bytes     int // bytes of the new parts as received; for a delta, in their plain form
	Delta     int // bytes of the message, if it brought the parts as a delta from an earlier epoch; else 0
	// Fallback is set when the first parts of a newer epoch of a known origin came without a delta.
	Fallback bool
}

// Wake asks for a [Tick] at the time At, and replaces any earlier Wake.
type Wake struct{ At time.Duration }

// Fault names a peer's misbehaviour.
type Fault string

// The faults that are reported. Their values are the labels of the refusal counters.
const (
	FaultHeader     Fault = "header"    // the signature is not valid, or the bytes are not canonical
	FaultRecord     Fault = "record"    // the address record is not the origin's own
	FaultGroup      Fault = "group"     // the header belongs to another group than stated
	FaultSeed       Fault = "seed"      // the summary belongs to another network
	FaultChain      Fault = "chain"     // parts that do not match the hash chain, or are not canonical
	FaultDelta      Fault = "delta"     // a delta that does not lead to what the header promises
	FaultReplay     Fault = "replay"    // an epoch older than one already verified
	FaultTwin       Fault = "twin"      // an origin signed two summaries under one epoch
	FaultUnasked    Fault = "unasked"   // parts that this node did not ask for
	FaultClaim      Fault = "claim"     // parts announced and then not delivered, repeatedly
	FaultCatalogue  Fault = "catalogue" // too many items, or items about own parts of the receiver that do not exist
	FaultTooManyAsk Fault = "asks"      // more outstanding asks than a link may have
)

// Effects collects the effects of one step, in order. The zero value is empty and ready.
type Effects struct {
	list  []Effect
	steps int
}

// Begin starts a new step. It drops the effects of the last step, and all references to what they hold.
func (e *Effects) Begin() {
	clear(e.list)
	e.list = e.list[:0]
	e.steps++
}

// Emit appends an effect.
func (e *Effects) Emit(f Effect) { e.list = append(e.list, f) }

// List returns the effects of this step. It is valid until the next [Effects.Begin].
func (e *Effects) List() []Effect { return e.list }

// Place names one effect of one step.
type Place struct{ step, index int }

// Next returns the place of the effect that is emitted next.
func (e *Effects) Next() Place { return Place{e.steps, len(e.list)} }

// MarkMore sets More of the [SendParts] at a place, if the place is of this step.
func (e *Effects) MarkMore(at Place) {
	if at.step != e.steps || at.index >= len(e.list) {
		return
	}
	if s, ok := e.list[at.index].(SendParts); ok {
		s.More = true
		e.list[at.index] = s
	}
}
