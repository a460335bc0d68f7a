package bloom

import "encoding"

// Set is the common interface of the filters of this package: *Filter, *Blocked, *Concurrent and *Dynamic. They also
// have a Merge, with a filter of their own type, or of a Filter into a Concurrent.
//
// Strings are keys, too: f.Add([]byte(s)) does not copy s unless f is held as a Set.
//
// The zero value of each is an empty set of no bits, which contains no key. It is there for UnmarshalBinary; adding to
// it panics.
type Set interface {
	Add(key []byte)
	AddHash(h Hash)             // Add of a key by its hash under the filter's seed
	TestAndAdd(key []byte) bool // Add, and reports whether Contains was true before
	Contains(key []byte) bool   // reports whether the key may have been added
	ContainsHash(h Hash) bool   // Contains of a key by its hash under the filter's seed
	FalsePositiveRate() float64 // the probability that Contains is true for a key not added, by the bits
	SizeBytes() int             // memory of the bits
	Reset()                     // removes all keys
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// zeroValue is the panic message for adding to a zero value.
const zeroValue = "bloom: the zero value takes no keys: make a filter with a constructor"
