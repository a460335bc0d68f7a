// Package bound has the sizes by which the machines bound what others make them remember, and look at. A bounded memory
// takes one of three sizes, by what an item takes, so none takes more than about a megabyte. It has a size of its own
// only where a run shows that none of these serves.
package bound

const (
	// Few bounds large items, of some kilobytes; the items of one peer; and questions that wait.
	Few = 64
	// Many bounds items of some hundred bytes, and the items that are looked at in one step.
	Many = 1024
	// Most bounds notes of some tens of bytes.
	Most = 1 << 14
)
