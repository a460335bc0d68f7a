package bloom

// batch is how many keys a batch works on at once: their state fits the first-level cache, and they are many more than a
// processor has loads under way. An index below it is a byte.
const batch = 256

// early is how many hash functions are asked of all keys before those that failed are left out: few enough to spare most
// of the accesses for absent keys, enough that hardly an absent key is left.
const early = 3

// cached is the number of words up to which a filter stays in a processor's second-level cache. There is nothing to wait for
// then, and one key after the other is faster.
const cached = 1 << 17

// ContainsAll sets found[i] to whether keys[i] may have been added. len(found) must be len(keys).
//
// For filters larger than the processor's caches it hashes many keys first, and then lets no load from the filter wait
// for another, nor any branch depend on one. Such filters live by the number of accesses: few hash functions and more
// bits are faster there. No allocation.
func (f *Filter) ContainsAll(keys [][]byte, found []bool) {
	found = found[:len(keys)]
	if f.oneByOne() {
		for i, key := range keys {
			found[i] = f.Contains(key)
		}
		return
	}
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
	if f.oneByOne() {
		for i, h := range hashes {
			found[i] = f.ContainsHash(h)
		}
		return
	}
	var some [batch]Hash
	for len(hashes) > 0 {
		n := copy(some[:], hashes)
		f.containsBatch(&some, found[:n])
		hashes, found = hashes[n:], found[n:]
	}
}

func (f *Filter) oneByOne() bool {
	return len(f.words) <= cached || f.params.Scheme != Independent
}

// containsBatch answers for the first len(found) hashes.
func (f *Filter) containsBatch(hashes *[batch]Hash, found []bool) {
	var live [batch]uint8 // the keys that passed so far
	for i := range live {
		live[i] = uint8(i)
	}
	first := min(early, len(f.probes))
	left := f.pass(f.probes[:first], hashes, &live, len(found))
	left = f.pass(f.probes[first:], hashes, &live, left)
	clear(found)
	for _, i := range live[:left] {
		found[i] = true
	}
}

// pass asks the probes of the first n live keys, keeps those that pass, and returns how many they are. Positions are computed
// in a loop of their own: the shorter the loop that loads, the more of its turns a processor has under way.
func (f *Filter) pass(probes []probe, hashes *[batch]Hash, live *[batch]uint8, n int) int {
	words, m := f.words, f.params.BlockBits
	var at [batch]uint64
	var fail [batch]uint8
	for _, p := range probes {
		for j, i := range live[:n] {
			at[uint8(j)] = p.at(hashes[i], m)
		}
		for j, at := range at[:n] {
			fail[uint8(j)] |= uint8(^words[at/64] >> (at % 64))
		}
	}
	left := 0
	for j, i := range live[:n] {
		live[uint8(left)] = i
		left += int(^fail[uint8(j)] & 1)
	}
	return left
}
