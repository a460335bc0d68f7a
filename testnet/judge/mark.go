package judge

// Mark is the score of an answer: holders found, out of those findable.
type Mark struct {
	Found, Findable int // holders; Findable is at most 1 for a query that wants one holder
	Wrong           int // peers named that do not hold the key
}

// MarkOf returns the mark of an answer that names found of the findable holders. If the query wants one holder, at
// most one counts. All recall figures come from here, for the simulator's queries and for queries on real hosts.
func MarkOf(found, findable int, all bool) Mark {
	if !all {
		findable = min(1, findable)
	}
	return Mark{Found: min(found, findable), Findable: findable}
}
