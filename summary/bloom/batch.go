package bloom

// batch is how many keys a batch works on at once: their state fits the first-level cache, and they are many more than a
// processor has loads under way.
const batch = 128

// ContainsAll sets found[i] to whether keys[i] may have been added. len(found) must be len(keys).
//
// It hashes many keys first and then asks one hash function of all of them after the other, with no branch that depends on
// an answer, so that the processor has many loads from memory under way instead of waiting for each: a few times faster
// than Contains for filters larger than its caches. No allocation.
func (f *Filter) ContainsAll(keys [][]byte, found []bool) {
	found = found[:len(keys)]
	var hashes [batch]Hash
	for len(keys) > 0 {
		n := min(batch, len(keys))
		for i, key := range keys[:n] {
			hashes[i] = f.params.Key.Hash(key)
		}
		f.containsSome(hashes[:n], found[:n])
		keys, found = keys[n:], found[n:]
	}
}

// ContainsAllHashes is ContainsAll for hashes under the filter's Key.
func (f *Filter) ContainsAllHashes(hashes []Hash, found []bool) {
	found = found[:len(hashes)]
	for len(hashes) > 0 {
		n := min(batch, len(hashes))
		f.containsSome(hashes[:n], found[:n])
		hashes, found = hashes[n:], found[n:]
	}
}

// containsSome answers for at most batch hashes.
func (f *Filter) containsSome(hashes []Hash, found []bool) {
	if f.params.Scheme != Independent {
		for i, h := range hashes {
			found[i] = f.containsProgression(h)
		}
		return
	}
	var live [batch]uint8 // which keys passed all probes so far
	n := len(hashes)
	for i := range n {
		live[i] = uint8(i)
	}
	words, m := f.words, f.params.BlockBits
	for _, p := range f.probes {
		left := 0
		for _, i := range live[:n] {
			at := p.at(hashes[i], m)
			live[left] = i
			left += int(words[at/64] >> (at % 64) & 1)
		}
		n = left
	}
	clear(found)
	for _, i := range live[:n] {
		found[i] = true
	}
}
