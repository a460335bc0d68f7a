package overlay

import "github.com/venn-p2p/venn/overlay/event"

// The vocabulary of the machines is package event's; these are its names for drivers.
type (
	// PeerID names a peer. The bytes are the driver's; here they are only compared.
	PeerID = event.PeerID
	// Record is a peer with its certified addresses.
	Record = event.Record
	// Transport is how parts of a summary travelled: [Pubsub], [Direct] or [Message].
	Transport = event.Transport
	// Hello is what the two ends of a link say of themselves.
	Hello = event.Hello
	// Item is one line of a catalogue.
	Item = event.Item
	// Bases says which earlier epochs of an origin somebody holds.
	Bases = event.Bases
	// Inquiry asks a peer to name others.
	Inquiry = event.Inquiry
	// KnownOrigin names an origin that an asker knows.
	KnownOrigin = event.KnownOrigin
	// Introduction is the summary of a peer that another passes on.
	Introduction = event.Introduction
	// Names answers an [Inquiry].
	Names = event.Names
	// Named is a peer that can be asked about its range.
	Named = event.Named
	// Fault names what a peer did wrong.
	Fault = event.Fault
)

type (
	// Input is something that happened: one of the types below.
	Input = event.Input
	// Published is a new epoch of our own summary.
	Published = event.Published
	// LinkOpened says that there is a connection to a peer.
	LinkOpened = event.LinkOpened
	// LinkClosed says that there is none any more.
	LinkClosed = event.LinkClosed
	// Grafted says that a linked peer entered the pubsub mesh.
	Grafted = event.Grafted
	// Pruned says that a peer left the pubsub mesh.
	Pruned = event.Pruned
	// HelloReceived is what a linked peer says of itself.
	HelloReceived = event.HelloReceived
	// HelloRefused is the hello of a peer that there is no room to link with.
	HelloRefused = event.HelloRefused
	// LinkRefused says that a linked peer has no room for the link.
	LinkRefused = event.LinkRefused
	// CatalogueReceived is a batch of announcements and wants.
	CatalogueReceived = event.CatalogueReceived
	// PartsReceived is a run of parts, or a delta.
	PartsReceived = event.PartsReceived
	// PartsRequested is a direct request by a peer.
	PartsRequested = event.PartsRequested
	// FetchFailed says that a [RequestParts] brought nothing.
	FetchFailed = event.FetchFailed
	// DialFailed says that a peer could not be reached.
	DialFailed = event.DialFailed
	// Charged counts bytes that the driver sent unasked.
	Charged = event.Charged
	// Lost says that a message to a peer was dropped.
	Lost = event.Lost
	// Outcome is what confirmations with a peer brought.
	Outcome = event.Outcome
	// RoundTrip is a measured round trip to a peer.
	RoundTrip = event.RoundTrip
	// PeersAsked is an inquiry of a peer.
	PeersAsked = event.PeersAsked
	// PeersNamed is a peer's answer to an inquiry.
	PeersNamed = event.PeersNamed
	// PeersSilent says that an inquiry brought no answer.
	PeersSilent = event.PeersSilent
	// ContactAnswered tells how a contact answered a question about a key.
	ContactAnswered = event.ContactAnswered
	// ContactsWanted says that a search has nobody left to ask about some ranges.
	ContactsWanted = event.ContactsWanted
	// Tick lets time pass.
	Tick = event.Tick
)

type (
	// Effect is something that the driver must do: one of the types below.
	Effect = event.Effect
	// SayHello sends a hello.
	SayHello = event.SayHello
	// SendCatalogue sends announcements and asks.
	SendCatalogue = event.SendCatalogue
	// SendParts sends a run of parts, or a delta, by pubsub.
	SendParts = event.SendParts
	// RequestParts asks a peer for parts on a stream of their own.
	RequestParts = event.RequestParts
	// AnswerParts answers a [PartsRequested].
	AnswerParts = event.AnswerParts
	// Connect makes a peer a neighbour.
	Connect = event.Connect
	// Protect keeps the connection of a peer that chose us.
	Protect = event.Protect
	// Disconnect takes a peer from the neighbours.
	Disconnect = event.Disconnect
	// Audit checks what a neighbour claims to hold.
	Audit = event.Audit
	// Report is a peer's misbehaviour.
	Report = event.Report
	// Learned says that more is known of a peer's collection.
	Learned = event.Learned
	// AskPeers sends an inquiry to a peer.
	AskPeers = event.AskPeers
	// AnswerPeers answers a [PeersAsked].
	AnswerPeers = event.AnswerPeers
	// ContactsNamed says that there may be more contacts.
	ContactsNamed = event.ContactsNamed
	// Wake asks for a [Tick].
	Wake = event.Wake
)

// How parts of a summary travel.
const (
	Pubsub  = event.Pubsub
	Direct  = event.Direct
	Message = event.Message
)

// The faults that are reported.
const (
	FaultHeader     = event.FaultHeader
	FaultRecord     = event.FaultRecord
	FaultGroup      = event.FaultGroup
	FaultSeed       = event.FaultSeed
	FaultChain      = event.FaultChain
	FaultDelta      = event.FaultDelta
	FaultReplay     = event.FaultReplay
	FaultTwin       = event.FaultTwin
	FaultUnasked    = event.FaultUnasked
	FaultClaim      = event.FaultClaim
	FaultCatalogue  = event.FaultCatalogue
	FaultTooManyAsk = event.FaultTooManyAsk
)

const (
	// MaxHelloRecords is the most records that a hello carries.
	MaxHelloRecords = event.MaxHelloRecords
	// AuditKeys is the most keys that an audit asks for.
	AuditKeys = event.AuditKeys
	// MaxBases is the largest value of [Bases].
	MaxBases = event.MaxBases
)
