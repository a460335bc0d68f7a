package directory

import (
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
)

// unwantedFor is how long an origin is left alone that had no room among the peers of its group of addresses.
const unwantedFor = 10 * time.Minute

// addressGroup is the entries whose addresses have something in common; see Config.Group. A nil one is none.
type addressGroup struct {
	name    string
	entries int
}

// String is what the addresses have in common; "": nothing.
func (g *addressGroup) String() string {
	if g == nil {
		return ""
	}
	return g.name
}

func (g *addressGroup) size() int {
	if g == nil {
		return 0
	}
	return g.entries
}

// joinGroup counts an entry among those whose addresses have something in common, as its record says. It is false when
// there are too many of them. If there is no room for its summary (proven) either, nothing is to be learned of the entry
// for a while.
func (d *Directory) joinGroup(now time.Duration, e *Entry, r wire.Record, proven bool) bool {
	if d.mayJoin(e, r, proven) {
		return true
	}
	if proven {
		e.unwanted = now + unwantedFor
	}
	d.ignored++
	return false
}

// mayJoin counts an entry in its group of addresses, if there is room. The bound is for strangers: addresses are a
// peer's own claims, and one party may make up as many peers as it likes. So linked peers count in no group. A peer with
// a summary (proven) takes the place of one with only a record. Of our own group, a site behind one address, those with
// a summary may be as many as half of all that there is room for.
func (d *Directory) mayJoin(e *Entry, r wire.Record, proven bool) bool {
	if d.cfg.Group == nil {
		return true
	}
	group := d.cfg.Group(r)
	if d.links[r.Peer] != nil {
		group = ""
	}
	if group == e.group.String() {
		return true
	}
	if s := e.sibling; s != nil && group != "" && s.group.String() == group { // a peer counts once
		d.leaveGroup(e)
		return true
	}
	full := group != "" && d.groups[group].size() >= d.groupLimit(group, proven)
	if full && (!proven || !d.makeGroupRoom(group, r.Peer)) {
		return false
	}
	d.leaveGroup(e)
	if group != "" {
		e.group = d.groups[group]
		if e.group == nil {
			e.group = &addressGroup{name: group}
			d.groups[group] = e.group
		}
		e.group.entries++
	}
	return true
}

// groupLimit returns how many peers of a group may be known that are not linked.
func (d *Directory) groupLimit(group string, proven bool) int {
	if own := d.Own().record; proven && own != nil && group == d.cfg.Group(wire.Record{Peer: d.cfg.Self, Envelope: own}) {
		return max(d.cfg.MaxGroup, d.Room()/2)
	}
	return d.cfg.MaxGroup
}

// makeGroupRoom forgets a peer of a full group that only has a record, and says whether there is one.
func (d *Directory) makeGroupRoom(group string, p wire.PeerID) bool {
	for _, e := range d.Others() {
		if e != nil && e.group.String() == group && e.cur == nil && e.peer != p {
			d.Remove(e.Index())
			return true
		}
	}
	return false
}

// leaveGroups takes an entry and its sibling out of their group: their peer is linked.
func (d *Directory) leaveGroups(e *Entry) {
	if s := e.sibling; s != nil && s.group != nil {
		e = s
	}
	if e.group != nil {
		d.shrinkGroup(e)
	}
}

// leaveGroup takes an entry out of its group. Its place goes to its sibling, if there is one.
func (d *Directory) leaveGroup(e *Entry) {
	if e.group == nil {
		return
	}
	if s := e.sibling; s != nil && s.group == nil && s.peer == e.peer {
		s.group, e.group = e.group, nil
		return
	}
	d.shrinkGroup(e)
}

func (d *Directory) shrinkGroup(e *Entry) {
	if e.group.entries--; e.group.entries == 0 {
		delete(d.groups, e.group.name)
	}
	e.group = nil
}
