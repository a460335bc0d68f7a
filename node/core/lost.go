package core

import (
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// LinkLost reports the end of a link that this peer did not end. It does what event.LinkClosed does, and may also
// cause a Seek.
type LinkLost struct{ Peer wire.PeerID }

// For returns the core, which passes on an event.LinkClosed and decides whether to seek the peer.
func (LinkLost) For() event.Machines { return event.Core }

// Seek asks the driver to check whether a peer whose link was lost can still be reached. If no connection can be made,
// the driver answers with event.Unreachable. Otherwise it does not answer.
type Seek struct{ Record wire.Record }

// fewLinks is the number of links up to which a peer looks for any peer whose link it lost. With more, most links end
// because the other end needs the room, and a peer that leaves has enough neighbours to notice.
const fewLinks = 8

// lost handles the loss of a link. A peer that said goodbye is gone. Another may have gone without a word: its
// neighbours try to reach it.
func (m *Machine) lost(in LinkLost) {
	missed := m.Overlay.IsNeighbour(in.Peer) || m.Overlay.Links() <= fewLinks
	m.happened(event.LinkClosed{Peer: in.Peer})
	if !missed || m.Tails == nil {
		return
	}
	if m.Tails.Left(in.Peer) {
		m.happened(event.Unreachable{Peer: in.Peer})
		return
	}
	if r, ok := m.Overlay.Record(in.Peer); ok {
		m.effects = append(m.effects, Seek{r})
	}
}
