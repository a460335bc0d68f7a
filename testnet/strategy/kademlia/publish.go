package kademlia

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// work is a lookup for upkeep: to refresh a bucket, or to publish keys.
type work struct {
	target uint64
	// keys to be published, in the order of their places, beginning with target; none for a refresh, or for a
	// further lookup in a region
	keys   []strategy.Key
	region *region // region whose peers the lookup is for
	shared int     // number of first bits that the places of the peers sought share with target
}

// region is a part of the space of hashes with at least 20 peers in it, if the network has as many. Its keys are
// published once all its peers are known.
type region struct {
	place uint64         // place of a key in it
	bits  int            // number of bits that all places in it share
	keys  []strategy.Key // keys to be published; the last ones may belong to later regions
	peers []strategy.ID  // peers known so far
	rest  []work
}

// publish plans lookups to publish all keys, in the order of their places.
func (k *peer) publish() {
	var keys []strategy.Key
	for _, f := range k.run.world.Collection(k.host.Self()) {
		keys = append(keys, strategy.Key{Fingerprint: f})
	}
	slices.SortFunc(keys, func(a, b strategy.Key) int { return cmp.Compare(target(a), target(b)) })
	for len(keys) > 0 {
		end := 1
		for shift := 64 - k.sweepBits(); k.run.sweep && end < len(keys) && target(keys[end])>>shift == target(keys[0])>>shift; {
			end++
		}
		k.work = append(k.work, work{target: target(keys[0]), keys: keys[:end]})
		keys = keys[end:]
	}
}

// sweepBits returns the number of bits of a place that decide its part of a sweep. There are at most as many parts as
// workers, and none is smaller than the region around this peer.
func (k *peer) sweepBits() int {
	self := place(k.host.Self())
	near := k.nearest(self)
	if len(near) < bucketSize {
		return 0
	}
	return min(bits.Len(workers)-1, bits.LeadingZeros64(place(near[bucketSize-1])^self))
}

// gather handles the end of a lookup for publishing.
func (k *peer) gather(l *lookup) {
	there := slices.DeleteFunc(l.contacts, func(c contact) bool { return c.state == failed })
	var peers []strategy.ID
	for _, c := range there {
		peers = append(peers, c.peer)
	}
	if !k.run.sweep {
		k.provide(peers, l.work.keys)
		return
	}
	// all peers that share this number of bits with the target are known, because they are nearer than the 20th
	complete := 0
	if len(there) >= bucketSize {
		complete = bits.LeadingZeros64(there[bucketSize-1].far) + 1
	}
	w := l.work
	if w.region == nil {
		w.shared = max(0, complete-1)
		w.region = &region{place: w.target, bits: w.shared, keys: w.keys}
	}
	k.explored(w, complete, peers)
}

// explored adds peers to a region, and plans a lookup for each part of it in which not all peers are known. These
// parts lie beside the complete part, in which all peers share complete bits with the target. If no part is left, it
// publishes the region's keys.
func (k *peer) explored(w work, complete int, peers []strategy.ID) {
	r := w.region
	for _, p := range peers {
		if !slices.Contains(r.peers, p) {
			r.peers = append(r.peers, p)
		}
	}
	for b := w.shared + 1; b <= complete; b++ {
		r.rest = append(r.rest, work{target: w.target ^ 1<<(64-b), region: r, shared: b})
	}
	if last := len(r.rest) - 1; last >= 0 {
		k.work = slices.Insert(k.work, 0, r.rest[last])
		r.rest = r.rest[:last]
		return
	}
	inside := func(key strategy.Key) bool { return bits.LeadingZeros64(target(key)^r.place) >= r.bits }
	end := slices.IndexFunc(r.keys, func(key strategy.Key) bool { return !inside(key) })
	if end < 0 {
		end = len(r.keys)
	}
	k.provide(r.peers, r.keys[:end])
	if rest := r.keys[end:]; len(rest) > 0 {
		k.work = slices.Insert(k.work, 0, work{target: target(rest[0]), keys: rest})
	}
}

// provide sends a record for each key to the 20 peers nearest to it.
func (k *peer) provide(peers []strategy.ID, keys []strategy.Key) {
	records := map[strategy.ID][]summary.Fingerprint{}
	for _, key := range keys {
		target := target(key)
		slices.SortFunc(peers, func(a, b strategy.ID) int { return cmp.Compare(place(a)^target, place(b)^target) })
		for _, p := range peers[:min(bucketSize, len(peers))] {
			records[p] = append(records[p], key.Fingerprint)
		}
	}
	for _, p := range peers {
		if r := records[p]; len(r) > 0 {
			k.send(p, strategy.Message{Body: provide{r}, Bytes: len(r) * recordBytes})
		}
	}
}

// records has provider records. They are sorted when they are read.
type records struct {
	list   []record
	sorted bool
}

type record struct {
	key      summary.Fingerprint
	provider strategy.ID
}

func (r *records) add(key summary.Fingerprint, provider strategy.ID) {
	r.list = append(r.list, record{key, provider})
	r.sorted = false
}

// sort sorts the records and removes copies.
func (r *records) sort() {
	if r.sorted {
		return
	}
	slices.SortFunc(r.list, func(a, b record) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.provider, b.provider))
	})
	r.list, r.sorted = slices.Compact(r.list), true
}

// providers returns the providers of a key, ascending.
func (r *records) providers(key summary.Fingerprint) []strategy.ID {
	r.sort()
	var out []strategy.ID
	i, _ := slices.BinarySearchFunc(r.list, key, func(a record, key summary.Fingerprint) int { return cmp.Compare(a.key, key) })
	for ; i < len(r.list) && r.list[i].key == key; i++ {
		out = append(out, r.list[i].provider)
	}
	return out
}
