package overlay

import "time"

// unwantedFor is how long an origin is left alone that had no room among the peers of its group of addresses.
const unwantedFor = 10 * time.Minute

// joinGroup counts an entry among those whose addresses have something in common, as its record says; false when there are
// too many of them: then nothing is to be learned of it for a while.
func (o *Overlay) joinGroup(e *entry, r Record) bool {
	if o.cfg.Group == nil {
		return true
	}
	group := o.cfg.Group(r)
	if group == e.group {
		return true
	}
	if s := o.sibling(e); s != nil && group != "" && s.group == group { // a peer counts once
		o.leaveGroup(e)
		return true
	}
	if group != "" && o.groups[group] >= o.cfg.MaxGroup {
		e.unwanted = o.now + unwantedFor
		o.dropped++
		return false
	}
	o.leaveGroup(e)
	if group != "" {
		e.group = group
		o.groups[group]++
	}
	return true
}

// leaveGroup takes an entry out of its group, and leaves its place to the other summary of its peer, if there is one.
func (o *Overlay) leaveGroup(e *entry) {
	if e.group == "" {
		return
	}
	if s := o.sibling(e); s != nil && s.group == "" && s.peer == e.peer {
		s.group, e.group = e.group, ""
		return
	}
	if o.groups[e.group]--; o.groups[e.group] == 0 {
		delete(o.groups, e.group)
	}
	e.group = ""
}
