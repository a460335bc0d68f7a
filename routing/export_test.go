package routing

// Conducts returns the number of peers whose conduct is remembered.
func (r *Router) Conducts() int { return r.conducts.Len() }
