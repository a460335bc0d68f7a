package routing

import (
	"fmt"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// Start opens a query.
type Start struct{ Query Query }

// Cancel ends a query with what it has. Unknown IDs are ignored, here and in all other inputs: the query may have
// ended.
type Cancel struct{ ID QueryID }

// Alive means that a peer has shown that it lives. An earlier failure to answer no longer counts against it. A hello
// has the same effect.
type Alive struct{ Peer wire.PeerID }

// Unresponsive means that a peer gives no sign of life: nothing comes on its connection, or no connection is made. Its
// open questions have failed, in all queries. An answer that comes all the same counts.
type Unresponsive struct{ Peer wire.PeerID }

func (Start) For() event.Machines        { return event.Routing }
func (Cancel) For() event.Machines       { return event.Routing }
func (Alive) For() event.Machines        { return event.Routing }
func (Unresponsive) For() event.Machines { return event.Routing }

func (i Start) String() string {
	q := i.Query
	return fmt.Sprintf("Start %s %q %s want=%d budget=%d deadline=%v", q.ID, q.Key, q.Mode, q.Want, q.Budget, q.Deadline)
}

func (i Cancel) String() string { return fmt.Sprintf("Cancel %s", i.ID) }

func (i Alive) String() string { return fmt.Sprintf("Alive %s", i.Peer) }

func (i Unresponsive) String() string { return fmt.Sprintf("Unresponsive %s", i.Peer) }

func (id QueryID) String() string {
	if id >= MaxQueryID {
		return fmt.Sprintf("s%d", uint64(id-MaxQueryID))
	}
	return fmt.Sprintf("q%d", uint64(id))
}
