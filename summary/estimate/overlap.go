package estimate

// Overlap is an estimate of the elements that two sets share, from two filters, two summaries, or a set and a summary.
type Overlap struct {
	N1, N2       float64  // elements of the first and the second: exact where they are known, else estimated
	Intersection Interval // elements of both; saturated when only the bounds 0 and min(N1, N2) are known
	Union        Interval // elements of either
	Jaccard      float64  // share of the union that both have; 0 if the union is empty or nothing is known
	Containment  float64  // share of the first that the second has; 0 if the first is empty or nothing is known
	Method       string   // basis of the estimate, for people
}
