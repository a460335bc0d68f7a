package directory

import (
	"time"

	"github.com/venn-p2p/venn/overlay/defence"
	"github.com/venn-p2p/venn/overlay/event"
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
// there are too many of them: then nothing is to be learned of the entry for a while. Addresses are a peer's own
// claims, so the bound does not keep out linked peers. A peer with only a record makes room for one with a summary
// (proven).
func (d *Directory) joinGroup(now time.Duration, e *Entry, r event.Record, proven bool) bool {
	if d.cfg.Group == nil {
		return true
	}
	group := d.cfg.Group(r)
	if group == e.group.String() {
		return true
	}
	if s := e.sibling; s != nil && group != "" && s.group.String() == group { // a peer counts once
		d.leaveGroup(e)
		return true
	}
	if group != "" && d.groups[group].size() >= d.cfg.MaxGroup && !d.makeGroupRoom(group, r.Peer, proven) {
		e.change(func(r *rare) { r.unwanted = now + unwantedFor })
		d.ignored++
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

// makeGroupRoom says whether there is room in a full group after all, for a peer that is linked or proven.
func (d *Directory) makeGroupRoom(group string, p event.PeerID, proven bool) bool {
	linked := d.links[p] != nil
	if d.cfg.Undefended.Has(defence.Groups) || !linked && !proven {
		return false
	}
	for _, e := range d.Others() {
		if e != nil && e.group.String() == group && e.cur == nil && e.peer != p && d.links[e.peer] == nil {
			d.Remove(e.Index())
			return true
		}
	}
	return linked
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
	if e.group.entries--; e.group.entries == 0 {
		delete(d.groups, e.group.name)
	}
	e.group = nil
}
