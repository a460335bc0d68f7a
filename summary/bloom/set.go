package bloom

import "encoding"

// Set is what all filters of this package do: *Filter, *Blocked, *Concurrent and *Dynamic. They also have a Merge, of
// their own type, or of a Filter into a Concurrent.
//
// Strings are keys, too: f.Add([]byte(s)) does not copy s unless f is held as a Set.
//
// The zero value of each is an empty set of no bits, which contains no key. To add to it panics. It is there to be read
// into by UnmarshalBinary.
type Set interface {
	Add(key []byte)
	AddHash(h Hash)             // Add of a key by its hash under the filter's seed
	TestAndAdd(key []byte) bool // Add, and whether Contains was true before
	Contains(key []byte) bool   // whether the key may have been added
	ContainsHash(h Hash) bool   // Contains of a key by its hash under the filter's seed
	FalsePositiveRate() float64 // the probability that Contains is true of another key, as the bits are
	SizeBytes() int             // memory of the bits
	Reset()                     // removes all keys
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// zeroValue is what adding to a zero value panics with.
const zeroValue = "bloom: the zero value takes no keys: make a filter with a constructor"
