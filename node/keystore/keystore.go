// Package keystore defines the store of a node's keys, and implements one in memory.
package keystore

import (
	"context"
	"iter"

	"github.com/venn-p2p/venn/summary"
)

// Keys stores the keys of a node. A node calls it from many goroutines.
type Keys interface {
	// Add adds keys with their fingerprints and returns the number of new ones. It keeps no reference to the keys.
	// After an error the keys before the faulty one are held.
	Add(keys [][]byte, fps []summary.Fingerprint) (added int, err error)
	// Remove removes keys and returns the number that were held.
	Remove(keys [][]byte) (removed int, err error)
	// Has reports whether key is held. After an error the node does not tell a peer that it lacks the key.
	Has(key []byte) (bool, error)
	// Len returns the number of keys held.
	Len() (int, error)
	// Fingerprints yields the fingerprints of all keys, in any order. Keys added or removed meanwhile may or may not be
	// among them.
	Fingerprints() iter.Seq[summary.Fingerprint]
}

// Lists is an optional interface of Keys. Joins, audits of neighbours and a change of the network's seed need it. If
// there is an error, the method Keys yields it last.
type Lists interface {
	Keys(ctx context.Context) iter.Seq2[[]byte, error]
}

// Epochs is an optional interface of Keys that outlast the program. NextEpoch returns the number of the node's next
// summary. Peers ignore a number that goes back or is used twice, so each must be later than all before, also those of
// earlier runs. Without this interface, the clock determines the numbers.
type Epochs interface {
	NextEpoch() (summary.Epoch, error)
}
