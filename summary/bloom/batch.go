package bloom

// batch is how many keys a batch works on at once: their state fits the first-level cache, and they are many more than a
// processor has loads under way. An index below it is a byte.
const batch = 256

// early is how many hash functions are asked of all keys before those that failed are left out: few enough to spare most
// of the accesses for absent keys, enough that hardly an absent key is left.
const early = 3

// ContainsAll sets found[i] to whether keys[i] may have been added. len(found) must be len(keys).
//
// It hashes many keys first, and then takes no branch that depends on what is in memory, so that the processor has many
// loads under way instead of waiting for each: faster than Contains for filters larger than its caches. In filters of many megabytes
// it is the accesses that count, so few hash functions there are worth more bits. No allocation.
func (f *Filter) ContainsAll(keys [][]byte, found []bool) {
	found = found[:len(keys)]
	var hashes [batch]Hash
	for len(keys) > 0 {
		n := min(batch, len(keys))
		for i, key := range keys[:n] {
			hashes[i] = f.params.Key.Hash(key)
		}
		f.containsBatch(&hashes, found[:n])
		keys, found = keys[n:], found[n:]
	}
}

// ContainsAllHashes is ContainsAll for hashes under the filter's Key.
func (f *Filter) ContainsAllHashes(hashes []Hash, found []bool) {
	found = found[:len(hashes)]
	var some [batch]Hash
	for len(hashes) > 0 {
		n := copy(some[:], hashes)
		f.containsBatch(&some, found[:n])
		hashes, found = hashes[n:], found[n:]
	}
}

// containsBatch answers for the first len(found) hashes.
func (f *Filter) containsBatch(hashes *[batch]Hash, found []bool) {
	if f.params.Scheme != Independent {
		for i := range found {
			found[i] = f.containsProgression(hashes[i])
		}
		return
	}
	first := min(early, len(f.probes))
	var live [batch]uint8 // the keys that passed so far
	left := 0
	for i := range found {
		live[uint8(left)] = uint8(i)
		left += int(f.all(f.probes[:first], hashes[uint8(i)]))
	}
	clear(found)
	for _, i := range live[:left] {
		found[i] = f.all(f.probes[first:], hashes[i]) != 0
	}
}

// all is 1 if the bits of all probes are set, else 0. It asks them all.
func (f *Filter) all(probes []probe, h Hash) uint64 {
	words, m := f.words, f.params.BlockBits
	bit := uint64(1)
	for _, p := range probes {
		at := p.at(h, m)
		bit &= words[at/64] >> (at % 64)
	}
	return bit
}
