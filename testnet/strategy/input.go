package strategy

// Input is something that happened to a peer. The set is sealed: the types of this file.
type Input interface{ input() }

// Joined is the first input of a peer: it is online. Links follow.
type Joined struct{}

// LinkOpened reports a new connection to a peer, which this one asked for if Outbound.
type LinkOpened struct {
	Peer     ID
	Outbound bool
}

// LinkClosed reports that the connection to a peer is gone.
type LinkClosed struct{ Peer ID }

// Received is a message that came. It is valid during Step only; the message's Body stays valid. As a single pointer it
// becomes an Input without taking memory.
type Received struct{ *Delivery }

// Delivery is a message with its sender.
type Delivery struct {
	From    ID
	Message Message
}

// Failed reports that a peer couldn't be reached.
type Failed struct {
	To      ID
	Message Message // that wasn't delivered; without Body: it was to be connected with
}

// Started is a query of this peer's own user.
type Started struct{ Query Query }

// Changed reports that a key was added to this peer's collection, or removed. Host.Holds and World.Collection have the
// change by now.
type Changed struct {
	Key  Key
	Held bool
}

// Woken answers Host.Wake.
type Woken struct{}

// Leaving is the last input of a peer that leaves by itself. What it sends now goes out if its connections last long
// enough: the simulator leaves them open for 200 ms.
type Leaving struct{}

func (Joined) input()     {}
func (LinkOpened) input() {}
func (LinkClosed) input() {}
func (Received) input()   {}
func (Failed) input()     {}
func (Started) input()    {}
func (Woken) input()      {}
func (Changed) input()    {}
func (Leaving) input()    {}
