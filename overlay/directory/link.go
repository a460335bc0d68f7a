package directory

import (
	"cmp"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
)

// Link is the record of a linked peer, one for all machines. The directory opens and closes it; the exchange notes the
// hello, and the region its rounds of gossip.
type Link struct {
	Peer  wire.PeerID
	Place space.Place

	Hello    wire.Hello    // the peer's last hello, without records
	Heard    bool          // the peer has said hello
	Meshed   bool          // the peer is in the pubsub mesh: announcements go to it
	Gossiped time.Duration // when it was last asked in a round of gossip; 0: never

	group   string // address group of the connection; "": not known
	tag     uint64 // tag of the peer as an origin, under the present seed
	session uint32 // its number among all links that were opened, from 1
	brought int    // pending entries that it named first, in this session
}

// Open opens the record of a peer with a connection from an address group; "": not known. It returns nil if there is a
// record, or if the peer is this node. All other machines learn of links by the changes of the directory.
func (d *Directory) Open(p wire.PeerID, from string) *Link {
	at, linked := d.linkAt(p)
	if linked || p == d.cfg.Self {
		return nil
	}
	d.opened++
	tag := wire.Tag(d.cfg.Seed, string(p))
	l := &Link{Peer: p, Place: d.PlaceOf(tag), group: from, tag: tag, session: d.opened}
	d.links = slices.Insert(d.links, at, l)
	d.changes = append(d.changes, Change{Kind: Linked, Link: l})
	d.touch()
	if e := d.Tagged(l.tag); e != nil && e.unwanted > 0 {
		e.unwanted = 0
		d.change(Reopened, e)
	}
	if e := d.Lookup(p); e != nil {
		e.dialFails = 0
		d.leaveGroups(e)
	}
	return l
}

// Close closes the record of a peer whose connection has ended. The peer counts in its address group from now on, and
// is forgotten if the group is full.
func (d *Directory) Close(p wire.PeerID) {
	at, linked := d.linkAt(p)
	if !linked {
		return
	}
	e := d.Lookup(p)
	d.changes = append(d.changes, Change{Kind: Unlinked, Link: d.links[at]})
	d.links = slices.Delete(d.links, at, at+1)
	d.touch()
	d.due.By(dueExpiry, 0)
	if e != nil && e.record != nil && !d.isOwn(e) && !d.mayJoin(e, e.Record(), e.cur != nil) {
		d.Remove(e.Index())
	}
}

// linkAt returns the index of a peer's link among all links, and whether it is there.
func (d *Directory) linkAt(p wire.PeerID) (at int, linked bool) {
	return slices.BinarySearchFunc(d.links, p, func(l *Link, p wire.PeerID) int { return cmp.Compare(l.Peer, p) })
}

// Link returns the record of a linked peer; nil if there is no connection.
func (d *Directory) Link(p wire.PeerID) *Link {
	if at, linked := d.linkAt(p); linked {
		return d.links[at]
	}
	return nil
}

// IsLinked reports whether there is a connection to a peer.
func (d *Directory) IsLinked(p wire.PeerID) bool { return d.Link(p) != nil }

// Links returns the records of all linked peers, in the order of their ids. The slice is the directory's.
func (d *Directory) Links() []*Link { return d.links }

// Said returns a linked peer's last hello, without records; ok is false before there was one.
func (d *Directory) Said(p wire.PeerID) (h wire.Hello, ok bool) {
	l := d.Link(p)
	if l == nil || !l.Heard {
		return h, false
	}
	return l.Hello, true
}

// GroupOf returns the address group of a linked peer's connection; "" if it is not known, or there is no link.
func (d *Directory) GroupOf(p wire.PeerID) string {
	if l := d.Link(p); l != nil {
		return l.group
	}
	return ""
}
