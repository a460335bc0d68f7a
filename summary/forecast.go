package summary

import "github.com/venn-p2p/venn/summary/internal/bitcode"

// forecast predicts the sizes of steps over all of hash space for n keys. It computes each level once. Only n has to be
// set.
type forecast struct {
	n      int
	ones   [maxLevel + 1]int // ones of a block cut at a level, plus 1; 0: not known yet
	arrays [maxLevel + 1]int // bytes of the array at a level; 0: not known yet
	levels [maxLevel]int     // bytes from a level to the next; 0: not known yet
}

// step predicts the size of a step of all cells, from one level to another, in a block that starts at a level: the same
// as stepBytes for all cells.
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

// next returns the level where the step from a level ends, and the step's size: at least minStepBytes, unless the final
// level comes first.
func (f *forecast) next(start, from, final int) (to, bytes int) {
	to = max(from+1, start)
	for bytes = f.step(start, from, to); to < final && bytes < minStepBytes; to++ {
		bytes += f.level(to)
	}
	return to, bytes
}

func (f *forecast) occupied(level int) int {
	if f.ones[level] == 0 {
		f.ones[level] = occupied(f.n, level) + 1
	}
	return f.ones[level] - 1
}

func (f *forecast) array(level int) int {
	if f.arrays[level] == 0 {
		ones := min(1<<level, f.occupied(level))
		f.arrays[level] = countBytes(ones) + bitcode.PredictedBytes(1<<level, ones)
	}
	return f.arrays[level]
}

func (f *forecast) level(from int) int {
	if f.levels[from] == 0 {
		nodes := f.occupied(from)
		both := min(nodes, max(0, f.occupied(from+1)-nodes))
		f.levels[from] = descentBytes(nodes, both)
	}
	return f.levels[from]
}

// descentBytes predicts the size of one level below some nodes, where both is the number of those with two children.
func descentBytes(nodes, both int) int {
	return countBytes(both) + bitcode.PredictedBytes(nodes, both) + (nodes-both+7)/8
}
