package strategy

// Input is something that happened to a peer. The set is sealed: it has the types of this file.
type Input interface{ input() }

// Joined is the first input of a peer: it came online. Links follow.
type Joined struct{}

// LinkOpened reports a new link to a peer. Outbound means that this peer asked for it.
type LinkOpened struct {
	Peer     ID
	Outbound bool
}

// LinkClosed reports that the link to a peer is gone.
type LinkClosed struct{ Peer ID }

// Received is a message that arrived. The Delivery is valid during Step only, but the message's Body stays valid. As
// a single pointer, Received becomes an Input without an allocation.
type Received struct{ *Delivery }

// Delivery is a message with its sender.
type Delivery struct {
	From    ID
	Message Message
}

// Failed reports that a peer could not be reached.
type Failed struct {
	To      ID
	Message Message // the message that was not delivered; without a Body: a link was to be opened
}

// Started is a query by this peer's own user.
type Started struct{ Query Query }

// Changed reports that a key was added to this peer's collection if Held, else removed. Host.Holds and
// World.Collection already include the change.
type Changed struct {
	Key  Key
	Held bool
}

// Woken is the input that Host.Wake asked for.
type Woken struct{}

// Leaving is the last input of a peer that leaves with a goodbye. Messages that it sends now are delivered if its
// connections stay open long enough: in the simulator, for 200 ms.
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
