package routing

// Failures is how many peers' failures are remembered.
func (r *Router) Failures() int { return len(r.failures) }
