package strategy

import (
	"hash/fnv"
	"math/rand/v2"
)

// Stream returns a source of randomness for one purpose and one number, such as a peer's or an event's. Each seed,
// purpose and number has a stream of its own, so draws from one do not change another.
func Stream(seed uint64, purpose string, number uint64) rand.PCG {
	h := fnv.New64a()
	h.Write([]byte(purpose)) // a hash returns no error
	var s rand.PCG
	s.Seed(Scramble(seed)^Scramble(h.Sum64()), Scramble(number))
	return s
}

// Random returns a generator that draws from a Stream.
func Random(seed uint64, purpose string, number uint64) *rand.Rand {
	s := Stream(seed, purpose, number)
	return rand.New(&s)
}

// TrialSeed returns the seed of a trial, numbered from 0, of an experiment with a seed. Experiments with different
// seeds have no trial's seed in common. It is below 2⁵³, so that readers of JSON keep its digits.
func TrialSeed(seed uint64, trial int) uint64 {
	return Scramble(Scramble(seed)+uint64(trial)) >> 11
}
