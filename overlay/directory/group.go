package directory

import (
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/wire"
)

// joinGroup counts an entry in the address group of its record, and returns false if the group is full. If there is no
// room for an entry with a summary (proven), the origin is left alone for ten minutes.
func (d *Directory) joinGroup(now time.Duration, e *Entry, r wire.Record, proven bool) bool {
	if d.mayJoin(e, r, proven) {
		return true
	}
	if proven {
		e.unwanted = now + agenda.Faded
	}
	d.ignored++
	return false
}

// mayJoin counts an entry in its address group, if there is room. The bound is for strangers: addresses are a peer's
// own claims, and one party can make up any number of peers. So linked peers count in no group. A peer with a summary
// (proven) takes the place of one with only a record. Of our own group, a site behind one address, half of all room may
// go to peers with a summary.
func (d *Directory) mayJoin(e *Entry, r wire.Record, proven bool) bool {
	if d.cfg.Group == nil {
		return true
	}
	group := d.cfg.Group(r)
	if d.IsLinked(r.Peer) {
		group = ""
	}
	if group == e.group {
		return true
	}
	if s := e.sibling; s != nil && group != "" && s.group == group { // counts a peer once
		d.leaveGroup(e)
		return true
	}
	full := group != "" && d.groups[group] >= d.groupLimit(group, proven)
	if full && (!proven || !d.makeGroupRoom(group, r.Peer)) {
		return false
	}
	d.leaveGroup(e)
	if e.group = group; group != "" {
		d.groups[group]++
	}
	return true
}

// groupLimit returns the most unlinked peers of an address group that may have entries.
func (d *Directory) groupLimit(group string, proven bool) int {
	if own := d.Own().record; proven && own != nil && group == d.cfg.Group(wire.Record{Peer: d.cfg.Self, Envelope: own}) {
		return max(d.cfg.MaxGroup, d.UnlinkedCapacity()/2)
	}
	return d.cfg.MaxGroup
}

// makeGroupRoom forgets a peer without a summary, other than p, from a full group. It returns false if there is none.
func (d *Directory) makeGroupRoom(group string, p wire.PeerID) bool {
	for _, e := range d.Others() {
		if e != nil && e.group == group && e.cur == nil && e.peer != p {
			d.Remove(e.Index())
			return true
		}
	}
	return false
}

// leaveGroups takes an entry and its sibling out of their group, because their peer is linked.
func (d *Directory) leaveGroups(e *Entry) {
	if s := e.sibling; s != nil && s.group != "" {
		e = s
	}
	if e.group != "" {
		d.shrinkGroup(e)
	}
}

// leaveGroup takes an entry out of its group. Its place goes to its sibling, if it has one.
func (d *Directory) leaveGroup(e *Entry) {
	if e.group == "" {
		return
	}
	if s := e.sibling; s != nil && s.group == "" && s.peer == e.peer {
		s.group, e.group = e.group, ""
		return
	}
	d.shrinkGroup(e)
}

func (d *Directory) shrinkGroup(e *Entry) {
	if d.groups[e.group]--; d.groups[e.group] == 0 {
		delete(d.groups, e.group)
	}
	e.group = ""
}
