// Package attenuated has strategies in which peers tell their neighbours, by filters, which keys are one, two and
// three hops away.
package attenuated

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/venn-p2p/venn/summary/bloom"
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/filters"
)

// Strategy gives every peer an array of filters for each of its links: of the keys that are one, two and three hops
// away over that link.
//
// Upkeep does not grow with the network, but a key beyond the reach of the arrays is found only by chance.
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
	bits     = 640 // bits of a level's filter for each key of a mean collection
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

// length returns the number of bits of the filter of one level.
func length(w strategy.World) uint64 {
	perKey := cmp.Or(w.Params.Of(strategy.BitsPerKey), bits)
	return uint64(max(64, math.Ceil(perKey*filters.MeanSize(w))))
}

// attenuation is an array of filters. The filter at i has the keys that are i hops from the sender; its own keys are
// at 0.
type attenuation [depth]*bloom.Filter

// Kind returns the name of the message in published tables.
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

// renew makes the array from the neighbours' arrays. bytes is the size of the message that tells the change.
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

// next returns the neighbour whose array has the key at the lowest level, one drawn at random if there are several. It
// returns nil if none has the key. It leaves out visited peers.
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
		default: // each of the equals with the same probability
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
