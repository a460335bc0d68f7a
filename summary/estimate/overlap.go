package estimate

// Overlap estimates what two sets have in common: from two filters, from two summaries, or from a set and a summary.
type Overlap struct {
	N1, N2       float64  // elements of the first and of the second set: exact if known, else estimated
	Intersection Interval // elements in both sets; saturated if only the bounds 0 and min(N1, N2) are known
	Union        Interval // elements in at least one of the sets
	Jaccard      float64  // intersection divided by union; 0 if the union is empty or nothing is known
	Containment  float64  // fraction of the first set that the second has; 0 if the first is empty or nothing is known
	Method       string   // basis of the estimate, for display
}
