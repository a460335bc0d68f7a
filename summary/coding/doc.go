// Package coding writes an array of bits in about as few bytes as its entropy allows, given its length n and the number of
// ones in it. Every bit is taken to be one with probability ones/n, independently of the others: so are the bits of a
// Bloom filter (Mitzenmacher 2002, section II, compresses exactly these).
//
// Both ends know n and ones, from a header or by counting, and everything else follows from the two alone, in integer
// arithmetic: the method, its tables, the predicted size. So there is no table and no flag in the code, and the same
// bits give the same bytes on every machine. The codes are canonical and delimit themselves: [DecodeBits] accepts only what
// [AppendBits] writes, and reports how many bytes that was.
package coding

import "errors"

// ErrMalformed is wrapped by every error about bytes or counts that AppendBits would not have written.
var ErrMalformed = errors.New("malformed")
