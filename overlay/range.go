package overlay

import (
	"time"

	"github.com/venn-p2p/venn/overlay/directory"
	"github.com/venn-p2p/venn/overlay/exchange"
)

// chooseDepth fits our range to memory and line. After a change it sends all links a hello with the new depth.
func (o *Overlay) chooseDepth(now time.Duration) {
	for _, p := range o.directory.Refused() {
		o.region.Note(p, false)
	}
	if !o.region.Fit(now) {
		return
	}
	o.directory.SetRange(o.region.Range())
	o.exchange.RangeChanged()
	for _, l := range o.directory.Links() {
		o.hello(now, l.Peer, exchange.NoRecords)
	}
}

// forgetOutside forgets, once the depth stands still, unlinked peers outside of the range without a part held. Useful
// peers among them become contacts.
func (o *Overlay) forgetOutside(now time.Duration) {
	if !o.region.Settled(now) {
		return
	}
	for _, e := range o.directory.Others() {
		if e == nil || e.Held() != nil || o.directory.IsLinked(e.Peer()) || o.topology.IsNeighbour(e.Peer()) {
			continue
		}
		if p := o.directory.Place(e); !o.region.Range().Contains(p) {
			o.region.Keep(e)
			o.region.Note(p, e.Record().Envelope != nil)
			o.directory.Remove(e.Index())
		}
	}
	o.pass()
}

// keepToRoom forgets the entries for which there is no room.
func (o *Overlay) keepToRoom() {
	o.directory.KeepToRoom(o.topology.IsNeighbour, o.noRoomFor)
	o.pass()
}

// noRoomFor has the region remember the place of an entry that is about to go, and its peer as a contact.
func (o *Overlay) noRoomFor(e *directory.Entry) {
	if e.Held() != nil {
		o.region.Note(o.directory.Place(e), true)
	}
	o.region.Keep(e)
}

// comeBack asks all links, once there is room again, to repeat the announcements for which there was no room.
func (o *Overlay) comeBack(now time.Duration) {
	if !o.directory.Missed(now) {
		return
	}
	for _, l := range o.directory.Links() {
		o.hello(now, l.Peer, exchange.NoneAndAgain)
	}
}
