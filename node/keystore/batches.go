package keystore

import "github.com/venn-p2p/venn/summary"

// Batches is an optional interface of Keys that is faster with many keys at a time. AddMany and RemoveMany do what Add
// and Remove do for one key after the other. They keep no reference to the keys.
type Batches interface {
	AddMany(keys [][]byte, fps []summary.Fingerprint) (added int, err error)
	RemoveMany(keys [][]byte) (removed int, err error)
}

// oneByOne implements Batches for Keys that do not.
type oneByOne struct{ Keys }

func (o oneByOne) AddMany(keys [][]byte, fps []summary.Fingerprint) (added int, err error) {
	for i, k := range keys {
		did, err := o.Add(k, fps[i])
		if err != nil {
			return added, err
		}
		if did {
			added++
		}
	}
	return added, nil
}

func (o oneByOne) RemoveMany(keys [][]byte) (removed int, err error) {
	for _, k := range keys {
		did, err := o.Remove(k)
		if err != nil {
			return removed, err
		}
		if did {
			removed++
		}
	}
	return removed, nil
}

// InBatches returns k as Batches, adapted if it is none.
func InBatches(k Keys) Batches {
	if b, ok := k.(Batches); ok {
		return b
	}
	return oneByOne{k}
}
