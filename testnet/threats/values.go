package threats

import (
	"encoding/binary"
	"math/rand/v2"
	"time"

	"github.com/venn-p2p/venn/summary"
)

// valueAttacks are attacks that need only a summary.
var valueAttacks = []attack{
	{
		name: "keys crafted to match a victim's summary", where: Values, measured: "share of them that match", target: atMost(0.05),
		defence: "the seed of the hash: what was computed under the last one is worth nothing",
		run:     either(crafted, true, false),
	},
	{
		name: "guesses tested against a summary", where: Values, measured: "share of the keys held that are guessed", target: atMost(0.05),
		defence: "private keys are in no summary",
		run:     either(guessed, true, false),
	},
}

// keyOf returns key number i.
func keyOf(i uint64) []byte { return binary.BigEndian.AppendUint64([]byte("key "), i) }

// summaryOf returns a summary of some keys under a seed, of the default shape.
func summaryOf(keys [][]byte, seed summary.Seed) *summary.Prefix {
	h := seed.Hasher()
	fps := make([]summary.Fingerprint, len(keys))
	for i, k := range keys {
		fps[i] = h.Fingerprint(k)
	}
	return must(summary.Build(fps, summary.Header{
		Seed: seed.Tag(), Origin: "victim", Epoch: summary.Epoch{Generation: 1, Sequence: 1}, Lifetime: time.Hour, Shape: summary.DefaultShape(len(fps)),
	}))
}

// crafted returns the share of keys, crafted under one seed, that match the summary which the victim publishes. A
// defended victim publishes under the next seed.
func crafted(defended bool) float64 {
	var held [][]byte
	for i := range uint64(5000) {
		held = append(held, keyOf(i))
	}
	before, next := summary.Seed{Network: "venn"}, summary.Seed{Network: "venn", Number: 1}
	known := summaryOf(held, before)
	var evil [][]byte
	h := before.Hasher()
	for i := uint64(1 << 40); len(evil) < 200 && i < 1<<40+1<<22; i++ {
		if k := keyOf(i); known.Contains(h.Fingerprint(k)) {
			evil = append(evil, k)
		}
	}
	published := known
	if defended {
		h = next.Hasher()
		published = summaryOf(held, next)
	}
	matches := 0
	for _, k := range evil {
		if published.Contains(h.Fingerprint(k)) {
			matches++
		}
	}
	return float64(matches) / float64(max(1, len(evil)))
}

// guessed returns the share of a hundred secret keys that match a summary, for somebody who guesses all of them. A
// defended peer keeps them out of the summary.
func guessed(defended bool) float64 {
	rng := rand.New(rand.NewPCG(1, 1))
	var public, secret [][]byte
	for range 1000 {
		public = append(public, keyOf(rng.Uint64()))
	}
	for range 100 {
		secret = append(secret, keyOf(rng.Uint64()))
	}
	if !defended {
		public = append(public, secret...)
	}
	seed := summary.Seed{Network: "venn"}
	p := summaryOf(public, seed)
	matches := 0
	for _, k := range secret {
		if p.Contains(seed.Hasher().Fingerprint(k)) {
			matches++
		}
	}
	return float64(matches) / float64(len(secret))
}
