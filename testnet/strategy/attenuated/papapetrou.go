package attenuated

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/venn-p2p/venn/summary/bloom"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/filters"
)

// Papapetrou is Strategy without the merging. In the same space each level holds a filter for every peer, cut until
// all fit. A query can go straight to the peer whose filter matches.
var Papapetrou = strategy.Strategy{
	Name: "attenuated-papapetrou",
	Source: "Papapetrou, Siberski, Nejdl, Cardinality estimation and dynamic length adaptation for Bloom filters (Distributed and " +
		"Parallel Databases 28, 2010), section 6",
	Model: "as attenuated, with levels of the same length, which block-partitioned filters share. Each filter is cut to as many " +
		"blocks as fit. Peers are left out until at least 3 fit, with which an eighth of the peers would match in vain. With each filter goes a record " +
		"of 48 bytes, to reach its peer. Blocks are sent once, and other changes in 8 bytes a peer. A query goes to the peers " +
		"whose filters match, those of lower levels and longer filters first, then from there on likewise.",
	Parameters: []strategy.Parameter{strategy.Upkeep, strategy.Budget.By("64 hops")},
	Static:     true,
	Open:       openPapapetrou,
}

const (
	reducedLeast  = 3  // least number of blocks of a filter
	reducedMost   = 32 // blocks of a whole filter
	reducedRecord = 48
	reducedNote   = 8 // bytes that tell how many blocks of a filter count from now on
)

// reducedRun is shared by all peers of a run. It has the whole filters and their cut ones.
type reducedRun struct {
	world   strategy.World
	bits    uint64                         // bits of a level
	filters []atomic.Pointer[bloom.Filter] // whole and cut filters, by peer and number of blocks
}

func openPapapetrou(w strategy.World) (strategy.Factory, error) {
	r := &reducedRun{world: w, bits: length(w), filters: make([]atomic.Pointer[bloom.Filter], w.Peers*reducedMost)}
	return func(h strategy.Host) strategy.Peer {
		r.filter(h.Self())
		p := &reducedPeer{teller: newTeller(h, w, reducedLevels{}), run: r}
		p.told = p.make()
		return p
	}, nil
}

// filter returns a peer's whole filter.
func (r *reducedRun) filter(p strategy.ID) *bloom.Filter { return r.cut(reducedFilter{p, reducedMost}) }

// cut returns a filter of the first blocks of a peer's filter. It makes the filter at the first call.
func (r *reducedRun) cut(of reducedFilter) *bloom.Filter {
	made := &r.filters[int(of.peer)*reducedMost+of.blocks-1]
	if made.Load() == nil {
		if of.blocks == reducedMost {
			made.Store(r.make(of.peer))
		} else {
			f := r.filter(of.peer).Clone() // Truncate would change the whole filter
			f.Truncate(of.blocks)
			made.Store(f)
		}
	}
	return made.Load()
}

// make makes a peer's whole filter.
func (r *reducedRun) make(p strategy.ID) *bloom.Filter {
	collection := r.world.Collection(p)
	params, err := bloom.Goal{Keys: max(1, len(collection)), Bits: r.blockBits(len(collection)) * reducedMost, Partitioned: true}.Params()
	if err != nil {
		panic(err) // cannot be: a block has at least a bit
	}
	f := filters.Empty(params)
	filters.Fill(f, collection)
	return f
}

// blockBits returns the length in bits of a block of a filter of n keys.
func (*reducedRun) blockBits(n int) uint64 { return uint64(math.Ceil(float64(max(1, n)) / math.Ln2)) }

// reducedFilter is a peer's filter cut to its first blocks.
type reducedFilter struct {
	peer   strategy.ID
	blocks int
}

// reducedLevels has the filters by their peers' distance in hops from the sender, each level ascending by peer.
type reducedLevels [depth][]reducedFilter

// Kind returns the name of the message in published tables.
func (reducedLevels) Kind() string { return "reducedlevels" }

type reducedPeer struct {
	teller[reducedLevels]
	run *reducedRun
}

func (r *reducedPeer) Step(now time.Duration, in strategy.Input) { r.step(now, in, r) }

func (r *reducedPeer) opening() int { return r.bytes(reducedLevels{}, r.told) }

func (r *reducedPeer) renew() (bytes int, changed bool) {
	old := r.told
	r.told = r.make()
	bytes = r.bytes(old, r.told)
	return bytes, bytes > strategy.Overhead
}

// make makes the levels from the neighbours' levels: each peer once, at its lowest level.
func (r *reducedPeer) make() reducedLevels {
	self := r.host.Self()
	levels := reducedLevels{r.fit([]reducedFilter{{self, reducedMost}})}
	near := map[strategy.ID]bool{self: true}
	for level := 1; level < depth; level++ {
		blocks := map[strategy.ID]int{}
		for _, p := range r.host.Links() {
			for _, f := range r.heard[p][level-1] {
				if !near[f.peer] {
					blocks[f.peer] = max(blocks[f.peer], f.blocks)
				}
			}
		}
		var all []reducedFilter
		for p, n := range blocks {
			near[p] = true
			all = append(all, reducedFilter{p, n})
		}
		slices.SortFunc(all, byPeer)
		levels[level] = r.fit(all)
	}
	return levels
}

func byPeer(a, b reducedFilter) int { return cmp.Compare(a.peer, b.peer) }

// fit cuts all filters to the same number of blocks, so that they fit in a level. If even reducedLeast blocks do not
// fit, it leaves out peers, ranked by a hash that differs from peer to peer but not from call to call.
func (r *reducedPeer) fit(all []reducedFilter) []reducedFilter {
	block := func(p strategy.ID) uint64 { return r.run.filter(p).Params().BlockBits }
	one := uint64(0) // bits that one block of each filter takes
	for _, f := range all {
		one += block(f.peer)
	}
	self := uint64(r.host.Self())
	rank := func(p strategy.ID) uint64 { return strategy.Scramble(self<<32 | uint64(p)) }
	slices.SortFunc(all, func(a, b reducedFilter) int { return cmp.Compare(rank(a.peer), rank(b.peer)) })
	n := len(all)
	for ; n > 1 && one*reducedLeast > r.run.bits; n-- {
		one -= block(all[n-1].peer)
	}
	all = all[:n]
	for i := range all {
		all[i].blocks = min(all[i].blocks, max(1, int(r.run.bits/max(1, one))))
	}
	slices.SortFunc(all, byPeer)
	return all
}

// bytes returns the size of a message that tells the levels now to a neighbour that knows the old ones.
func (r *reducedPeer) bytes(old, now reducedLevels) int {
	known := map[strategy.ID]int{}
	for _, level := range old {
		for _, f := range level {
			known[f.peer] = f.blocks
		}
	}
	bytes := strategy.Overhead
	for _, level := range now {
		for _, f := range level {
			had, there := known[f.peer]
			delete(known, f.peer)
			switch {
			case !there:
				bytes += reducedRecord
			case had != f.blocks:
				bytes += reducedNote
			}
			bytes += max(0, f.blocks-had) * int(r.run.filter(f.peer).Params().BlockBits) / 8
		}
	}
	return bytes + reducedNote*len(known) // a note for each peer that is in no level any more
}

// next returns the peers whose filters match, lower levels and then longer filters first. It leaves out visited
// peers.
func (r *reducedPeer) next(w *walker) []strategy.ID {
	type match struct{ peer, level, blocks int }
	best := map[strategy.ID]match{} // longest filter for each peer; of equally long ones, that at the lowest level
	for _, p := range r.host.Links() {
		for level, filters := range r.heard[p] {
			for _, f := range filters {
				if m, ok := best[f.peer]; !ok || m.blocks < f.blocks || m.blocks == f.blocks && level < m.level {
					best[f.peer] = match{int(f.peer), level, f.blocks}
				}
			}
		}
	}
	h := filters.Hash(w.query.Key.Fingerprint)
	var matches []match
	for p, m := range best {
		if !slices.Contains(w.visited, p) && p != r.host.Self() && r.run.cut(reducedFilter{p, m.blocks}).ContainsHash(h) {
			matches = append(matches, m)
		}
	}
	slices.SortFunc(matches, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(b.blocks, a.blocks), cmp.Compare(a.peer, b.peer))
	})
	plan := make([]strategy.ID, len(matches))
	for i, m := range matches {
		plan[i] = strategy.ID(m.peer)
	}
	return plan
}
