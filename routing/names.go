package routing

// A name costs a liar nothing, and an address where no peer answers costs the dialler most. So a name that nothing else
// supports is in doubt once another name of the same referrer did not answer, or keeps the query waiting, unless that
// referrer has named a holder before. So are all names of a referrer that is given up. Names in doubt are asked last,
// within a part of the budget. Nothing waits for them, and they do not keep another contact from being asked.

// inDoubt reports whether a candidate is a name in doubt.
func (r *Router) inDoubt(q *search, c *candidate) bool {
	if c.matched || c.namedBy < 0 || c.why != Named && c.why != Returned {
		return false
	}
	return q.referrers[c.namedBy].doubtful()
}

// waitsInVain marks the referrers whose names keep an Any query waiting.
func (r *Router) waitsInVain(q *search) {
	for i := range q.candidates {
		c := &q.candidates[i]
		if c.state == asking && c.namedBy >= 0 && !c.matched && r.now >= c.since+r.cfg.HedgeAfter {
			q.referrers[c.namedBy].overdue = true
		}
	}
	r.rank(q)
}

// hopeful reports whether a candidate can be asked, or its answer is awaited. Names in doubt do not count.
func (r *Router) hopeful(q *search) bool {
	if i := q.next(r.wary(q)); i >= 0 && !r.inDoubt(q, &q.candidates[i]) {
		return true
	}
	if q.probing == 0 {
		return false
	}
	for i := range q.candidates {
		if c := &q.candidates[i]; c.state == asking && r.promises(q, c) {
			return true
		}
	}
	return false
}

// promises reports whether a candidate under way is awaited and is no name in doubt.
func (r *Router) promises(q *search, c *candidate) bool {
	return !r.inDoubt(q, c) && r.awaited(q, c)
}

// affordName takes the messages for a name in doubt off the budget and off the part for these names. If that part is
// used up, it skips the name.
func (r *Router) affordName(q *search, c *candidate) bool {
	switch {
	case aside*(q.vain+questionCost) > q.Budget:
		q.short = true
	case q.afford(questionCost):
		q.vain += questionCost
		return true
	}
	c.state = passed
	return false
}
