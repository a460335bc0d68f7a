package summary

import "github.com/venn-p2p/venn/summary/internal/bitcode"

// forecast predicts the sizes of steps over a part of hash space, if all of hash space has n keys. It computes each
// level once. Make it with n, cells and cut.
type forecast struct {
	n          int
	cells, cut int               // the part: this many of the 2^cut equal cells of hash space
	ones       [maxLevel + 1]int // expected ones of the part at a level, plus 1; 0: not known yet
	arrays     [maxLevel + 1]int // bytes of the array at a level; 0: not known yet
	levels     [maxLevel]int     // bytes of the step from a level to the next; 0: not known yet
}

// newForecast returns the forecast for all of hash space.
func newForecast(n int) *forecast { return &forecast{n: n, cells: 1} }

// step predicts the bytes of a step from one level to another, in a block that starts at level start.
func (f *forecast) step(start, from, to int) int {
	bytes := 0
	if from < start {
		bytes, from = f.array(start), start
	}
	for ; from < to; from++ {
		bytes += f.level(from)
	}
	return bytes
}

// next returns the level where the step from a level ends, and the step's bytes. They are at least minStepBytes, unless
// the final level comes first.
func (f *forecast) next(start, from, final int) (to, bytes int) {
	to = max(from+1, start)
	for bytes = f.step(start, from, to); to < final && bytes < minStepBytes; to++ {
		bytes += f.level(to)
	}
	return to, bytes
}

func (f *forecast) occupied(level int) int {
	if f.ones[level] == 0 {
		f.ones[level] = scale(occupied(f.n, level), f.cells, 1<<f.cut) + 1
	}
	return f.ones[level] - 1
}

// array predicts the bytes of an array of all nodes at a level.
func (f *forecast) array(level int) int {
	if f.arrays[level] == 0 {
		ones := f.occupied(level)
		f.arrays[level] = countBytes(ones) + bitcode.PredictedBytes(f.cells<<(level-f.cut), ones)
	}
	return f.arrays[level]
}

// level predicts the bytes of the step from a level to the next.
func (f *forecast) level(from int) int {
	if f.levels[from] == 0 {
		nodes := f.occupied(from)
		both := min(nodes, max(0, f.occupied(from+1)-nodes)) // of the nodes, those with two children
		f.levels[from] = countBytes(both) + bitcode.PredictedBytes(nodes, both) + (nodes-both+7)/8
	}
	return f.levels[from]
}
