// Package bitcode encodes an array of bits, given its length n and the number of ones, in about as few bytes as its
// entropy allows. Every bit is assumed to be one with probability ones/n, independently of the others. The bits of a
// Bloom filter are like that: Mitzenmacher ("Compressed Bloom Filters", 2002, section II) leaves its compression to
// an arithmetic coder.
//
// Both ends know n and ones, from a header or by counting. The method, its tables and the predicted size follow from
// these two numbers alone, in integer arithmetic. So the code has no table and no flag, and the same bits give the
// same bytes on every machine. The codes are canonical, and their end needs no mark: [DecodeBits] accepts only what
// [AppendBits] writes, and returns the number of bytes that it read.
//
// The methods, by the number of the few: the ones, or the zeros if these are fewer (then the complement is coded):
//
//   - no byte, if all bits are equal;
//   - the bits as they are, if coding would save less than a thousandth: for few/n from 0.481 on;
//   - the Rice code of the gaps between the few, above 2^10 and up to 2^14 bits, if they are less than a fifteenth. It
//     takes 0.03 to 0.12 bits for each of the few more than the next one;
//   - an arithmetic coder that counts down the ones and bits left, up to 2^14 bits. It takes the logarithm of the
//     number of such arrays, and most often no whole byte more;
//   - rANS of the gaps between the few, if they are less than a fifteenth;
//   - rANS of bytes, else.
//
// rANS takes 6 bytes a lane beyond the entropy. Codes from 8 KiB on have four lanes, shorter ones have one. For 128
// KiB of random bits the code is within 0.2 % of the entropy for few/n from 0.05 on, and within 0.4 % from 0.001 on.
// Encoding or decoding bytes takes about 2 ns for each byte of the array; gaps take 3 to 6 ns for each of the few.
// Nothing but dst allocates. Decoding puts a table of 34 KB on the stack.
package bitcode

import "errors"

// ErrMalformed is wrapped by every error about bytes or counts that no encoder writes.
var ErrMalformed = errors.New("malformed")
