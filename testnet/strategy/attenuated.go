package strategy

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/venn-p2p/venn/summary/bloom"
)

// Attenuated gives every peer, for each of its links, an array of filters: of what is one hop away over it, two hops, three.
//
// Upkeep doesn't grow with the network, but what lies further than the arrays reach is found by chance only.
var Attenuated = Strategy{
	Name:   "attenuated",
	Source: "Rhea, Kubiatowicz, Probabilistic Location and Routing (INFOCOM 2002)",
	Model: "arrays of 3 Bloom filters of one length: Params.BitsPerKey times the mean collection, by default 640, which is 10 bits " +
		"for each key of the 64 collections three hops away at 8 links a peer. A query goes to the neighbour with a match at the " +
		"lowest level, to none twice; where nothing matches, to one by chance, in place of OceanStore's deterministic location; 64 " +
		"hops at most, or what the budget allows. Changes are sent entropy-coded, every 2 s and as Params.Upkeep allows; a " +
		"neighbour's filters hold what comes back over the link itself.",
	Static: true,
	Open:   openAttenuated,
}

const (
	attenuatedLevels = 3
	attenuatedHashes = 4
	attenuatedBits   = 640 // for every key of a collection
	attenuatedHops   = 64
	attenuatedEvery  = 2 * time.Second
)

func openAttenuated(w World) (Factory, error) {
	bits, err := attenuatedLength(w)
	if err != nil {
		return nil, err
	}
	params := bloom.Params{Blocks: 1, BlockBits: bits, Hashes: attenuatedHashes}
	return func(h Host) Peer {
		own := must(bloom.New(params))
		fill(own, w.Collection(h.Self()))
		return &attenuated{
			host: h, walk: newMatchWalk(h, w), allowance: allowance{rate: w.Params.Upkeep}, params: params,
			told: attenuation{own, must(bloom.New(params)), must(bloom.New(params))}, heard: map[ID]attenuation{},
		}
	}, nil
}

// attenuatedLength is the bits of a level.
func attenuatedLength(w World) (uint64, error) {
	if w.Params.Upkeep < 0 || w.Params.BitsPerKey < 0 || w.Params.Budget < 0 {
		return 0, fmt.Errorf("strategy: attenuated: parameters %+v, below 0", w.Params)
	}
	perKey := float64(attenuatedBits)
	if w.Params.BitsPerKey > 0 {
		perKey = w.Params.BitsPerKey
	}
	return uint64(max(64, math.Ceil(perKey*meanSize(w)))), nil
}

// attenuation is an array of filters, of what is so many hops from its sender: the first of what it holds itself.
type attenuation [attenuatedLevels]*bloom.Filter

type attenuated struct {
	host Host
	walk matchWalk
	allowance
	params bloom.Params
	told   attenuation        // what neighbours know of us
	heard  map[ID]attenuation // by neighbour
	due    bool               // a wake is asked for
}

func (a *attenuated) Step(now time.Duration, in Input) {
	switch in := in.(type) {
	case LinkOpened:
		bytes := Overhead
		for _, f := range a.told {
			bytes += compressed(f)
		}
		a.send(in.Peer, bytes)
	case LinkClosed:
		delete(a.heard, in.Peer)
		a.changed(now)
	case Woken:
		a.due = false
		a.update(now)
	case Received:
		if b, ok := in.Message.Body.(attenuation); ok {
			a.heard[in.From] = b
			a.changed(now)
			return
		}
	}
	a.walk.step(now, in, a.next)
}

func (a *attenuated) send(to ID, bytes int) {
	a.spend(bytes)
	a.host.Send(to, Message{Body: a.told, Bytes: bytes})
}

// changed sees to it that neighbours will be told.
func (a *attenuated) changed(now time.Duration) {
	if !a.due {
		a.due = true
		a.host.Wake(now + max(attenuatedEvery, a.wait(now)))
	}
}

// update makes the array anew from those of the neighbours, and tells them all if it differs.
func (a *attenuated) update(now time.Duration) {
	if !a.ready(now) {
		a.changed(now)
		return
	}
	next := attenuation{a.told[0]}
	bytes := Overhead
	for level := 1; level < attenuatedLevels; level++ {
		f := must(bloom.New(a.params))
		for _, p := range a.host.Links() {
			if heard, ok := a.heard[p]; ok {
				must(0, f.Merge(heard[level-1]))
			}
		}
		next[level] = f
		bytes += changed(f, a.told[level])
	}
	if next[1].Equal(a.told[1]) && next[2].Equal(a.told[2]) {
		return
	}
	a.told = next
	for _, p := range a.host.Links() {
		a.send(p, bytes)
	}
}

// next is the neighbour over which the key is nearest, as far as is known.
func (a *attenuated) next(w *matchWalker) []ID {
	h := filterHash(w.query.Key.Fingerprint)
	best, at, equal := ID(-1), attenuatedLevels, 0
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
	return []ID{best}
}
