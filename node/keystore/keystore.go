// Package keystore says where a node keeps its keys, and keeps them in memory.
package keystore

import (
	"context"
	"iter"

	"github.com/venn-p2p/venn/summary"
)

// Keys is where a node keeps its keys. A node calls it from many goroutines.
type Keys interface {
	// Add takes in a key with its fingerprint and says whether it is new. It keeps no reference to key.
	Add(key []byte, f summary.Fingerprint) (added bool, err error)
	// Remove says whether the key was there.
	Remove(key []byte) (removed bool, err error)
	Has(key []byte) bool
	Len() int
	// Fingerprints are those of all keys, in any order; keys added or removed meanwhile may or may not be among them.
	Fingerprints() iter.Seq[summary.Fingerprint]
}

// Lists is what Keys must be besides for its keys to be in a join, and for audits of neighbours to draw on. An error is
// the last thing that Keys yields.
type Lists interface {
	Keys(ctx context.Context) iter.Seq2[[]byte, error]
}
