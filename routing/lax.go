package routing

// lax switches defences off, for tests that show what each is for. Only tests of this package can set it.
type lax struct {
	trustChildren  bool // names that a child returns count as found before they are confirmed
	anySender      bool // a search is known again whoever sends it
	forgetVoices   bool // how informants fared is forgotten at the end of a query
	forgetFailures bool // peers that failed to answer are asked as before
	askAgain       bool // peers are asked for what is known of them
	noSweep        bool // linked peers are not asked directly
	sameOrder      bool // linked peers are forwarded to in the same order everywhere
	noVisited      bool // a query doesn't say where it has been
	oneVoice       bool // one contact alone speaks for a range
}
