package bloom

// batch is the number of keys that a lookup works on at once: many more than a processor has loads under way, and few
// enough for their state to stay in the first-level cache.
const batch = 512

// cached is the length of a filter, in words, up to which keys are looked up one after the other: 256 KiB, well within
// a processor's second-level cache. That is as fast there, and faster where most keys are present.
const cached = 1 << 15

// ContainsAll sets found[i] to whether keys[i] may have been added. len(found) must be len(keys).
//
// For filters above 256 KiB it hashes many keys first, and then asks one hash function after the other about the keys
// that passed so far. No load from the filter waits for another, and no branch depends on one. Lookups in large filters
// cost one memory access a hash function, so few hash functions and more bits are faster there. No allocation. O(k) a
// key.
func (f *View) ContainsAll(keys [][]byte, found []bool) {
	found = found[:len(keys)]
	if f.oneByOne() {
		for i, key := range keys {
			found[i] = f.Contains(key)
		}
		return
	}
	var l lookup
	for len(keys) > 0 {
		n := min(batch, len(keys))
		for i, key := range keys[:n] {
			l.hashes[i] = f.params.Hasher.Hash(key)
		}
		l.run(f, found[:n])
		keys, found = keys[n:], found[n:]
	}
}

func (f *View) oneByOne() bool {
	return len(f.words) <= cached
}

// lookup is the state of a batch of keys on their way through the hash functions of a filter.
type lookup struct {
	hashes [batch]Hash
	live   [batch]uint16 // keys that passed so far
	at     [batch]uint64 // next position of each live key, then the bit there
}

// run answers for the first len(found) hashes.
func (l *lookup) run(f *View, found []bool) {
	live := l.live[:len(found)]
	for i := range live {
		live[i] = uint16(i)
	}
	for _, p := range f.probes {
		live = live[:l.ask(f, p, live)]
	}
	clear(found)
	for _, i := range live {
		found[i] = true
	}
}

// ask asks one hash function about the live keys, moves the keys that pass to the front, and returns their number.
//
// Three loops are faster than one. The shorter the loop that loads from the filter, the more of its turns a processor
// has under way. That loop must not move the keys, because the place of each depends on all loads before. A store to a
// place not known yet would hold up the loads that follow.
func (l *lookup) ask(f *View, p probe, live []uint16) int {
	words, m, at := f.words, f.params.BlockBits, l.at[:len(live)]
	for j, i := range live {
		at[j] = p.at(l.hashes[i%batch], m)
	}
	for j, a := range at {
		bit := uint64(0)
		if words[a/64]&(1<<(a%64)) != 0 { // compiled to a bit test and no branch
			bit = 1
		}
		at[j] = bit
	}
	passed := 0
	for j, bit := range at {
		live[passed] = live[j]
		passed += int(bit)
	}
	return passed
}
