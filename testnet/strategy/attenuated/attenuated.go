// Package attenuated has peers tell their neighbours, in filters, which keys lie one, two and three hops away.
package attenuated

import (
	"math"
	"slices"
	"time"

	"github.com/venn-p2p/venn/summary/bloom"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/filters"
)

// Strategy gives every peer, for each of its links, an array of filters: of the keys that are one hop away over it, two
// hops, three.
//
// Upkeep doesn't grow with the network, but keys beyond the reach of the arrays are found by chance only.
var Strategy = strategy.Strategy{
	Name:   "attenuated",
	Source: "Rhea, Kubiatowicz, Probabilistic Location and Routing (INFOCOM 2002)",
	Model: "arrays of 3 Bloom filters of one length: Params.BitsPerKey times the mean collection. By default that is 640: 10 bits " +
		"for each key of the 64 collections three hops away at 8 links a peer. A query goes to the neighbour with a match at the " +
		"lowest level, to none twice. Where nothing matches, it goes to one by chance, in place of OceanStore's deterministic " +
		"location. It has 64 hops at most, or what the budget allows. Changes are sent entropy-coded, every 2 s and as Params.Upkeep allows; a " +
		"neighbour's filters hold what comes back over the link itself.",
	Parameters: []strategy.Parameter{strategy.Upkeep, strategy.BitsPerKey.By("640"), strategy.Budget.By("64 hops")},
	Static:     true,
	Open:       open,
}

const (
	depth    = 3
	hashes   = 4
	bits     = 640 // for every key of a collection
	mostHops = 64
	every    = 2 * time.Second
)

func open(w strategy.World) (strategy.Factory, error) {
	params := bloom.Params{Blocks: 1, BlockBits: length(w), Hashes: hashes}
	return func(h strategy.Host) strategy.Peer {
		own := filters.Empty(params)
		filters.Fill(own, w.Collection(h.Self()))
		return &peer{
			teller: newTeller(h, w, attenuation{own, filters.Empty(params), filters.Empty(params)}),
			params: params,
		}
	}, nil
}

// length returns the number of bits of a level.
func length(w strategy.World) uint64 {
	perKey := float64(bits)
	if w.Params.BitsPerKey > 0 {
		perKey = w.Params.BitsPerKey
	}
	return uint64(max(64, math.Ceil(perKey*filters.MeanSize(w))))
}

// attenuation is an array of filters. The filter at i stands for the keys that lie i hops from its sender, which itself
// is at 0.
type attenuation [depth]*bloom.Filter

// Kind names the message in published tables.
func (attenuation) Kind() string { return "attenuation" }

type peer struct {
	teller[attenuation]
	params bloom.Params
}

func (a *peer) Step(now time.Duration, in strategy.Input) { a.step(now, in, a) }

func (a *peer) opening() int {
	bytes := strategy.Overhead
	for _, f := range a.told {
		bytes += filters.Compressed(f)
	}
	return bytes
}

// renew makes the array again from the neighbours' arrays.
func (a *peer) renew() (bytes int, changed bool) {
	next := attenuation{a.told[0]}
	bytes = strategy.Overhead
	for level := 1; level < depth; level++ {
		f := filters.Empty(a.params)
		for _, p := range a.host.Links() {
			if heard, ok := a.heard[p]; ok {
				filters.Merge(f, heard[level-1])
			}
		}
		next[level] = f
		bytes += filters.Changed(f, a.told[level])
	}
	changed = !next[1].Equal(a.told[1]) || !next[2].Equal(a.told[2])
	if changed {
		a.told = next
	}
	return bytes, changed
}

// next returns the neighbour over which the key is nearest, as far as is known.
func (a *peer) next(w *walker) []strategy.ID {
	h := filters.Hash(w.query.Key.Fingerprint)
	best, at, equal := strategy.ID(-1), depth, 0
	for _, p := range a.host.Links() {
		heard, ok := a.heard[p]
		if !ok || slices.Contains(w.visited, p) {
			continue
		}
		level := slices.IndexFunc(heard[:], func(f *bloom.Filter) bool { return f.ContainsHash(h) })
		switch {
		case level < 0 || level > at:
		case level < at:
			best, at, equal = p, level, 1
		default: // one of the equals, by chance
			if equal++; a.host.Rand().IntN(equal) == 0 {
				best = p
			}
		}
	}
	if best < 0 {
		return nil
	}
	return []strategy.ID{best}
}
