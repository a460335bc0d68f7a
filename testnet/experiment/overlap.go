package experiment

import (
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/venn-p2p/venn/summary"
)

// overlaps estimates the keys that pairs of peers share, from sketches of a number of bytes. The error is a share of
// the smaller collection, root mean square over the pairs.
func (c *collectionRun) overlaps() {
	const pairs = 300
	type pair struct{ a, b int }
	var drawn []pair
	for range pairs {
		a := c.rng.IntN(len(c.fps))
		drawn = append(drawn, pair{a, (a + 1 + c.rng.IntN(len(c.fps)-1)) % len(c.fps)})
	}
	salt := c.rng.Uint64()
	cut := make([]*summary.Prefix, len(c.fps))
	hashed := make([]sketches, len(c.fps))
	c.each(len(c.fps), func(i int) {
		cut[i], hashed[i] = c.cut(i), sketch(c.fps[i], c.Bytes, salt)
	})
	if c.ctx.Err() != nil {
		return
	}
	errors := map[string]float64{}
	for _, p := range drawn {
		truth := float64(c.held.Common(peer(p.a), peer(p.b)))
		n1, n2 := float64(len(c.fps[p.a])), float64(len(c.fps[p.b]))
		smaller := min(n1, n2)
		x, y := &hashed[p.a], &hashed[p.b]
		o := must(summary.EstimateOverlap(cut[p.a], cut[p.b], 0.95))
		for name, v := range map[string]float64{
			"venn": o.Intersection.Value, "theta": theta(x.lowest, y.lowest),
			"MinHash": minHash(x.buckets, y.buckets, n1, n2), "HyperLogLog": n1 + n2 - hyperLogLog(x.registers, y.registers),
		} {
			v = min(max(v, 0), smaller)
			errors[name] += (v - truth) * (v - truth) / (smaller * smaller)
		}
	}
	for _, name := range []string{"venn", "theta", "MinHash", "HyperLogLog"} {
		c.add(name, "", c.Bytes, "error, share of the smaller collection", math.Sqrt(errors[name]/pairs))
	}
}

// cut returns the part of a peer's summary that fits in c.Bytes with its header, in the shape that nodes publish. They
// publish no sample below a kibibyte. If none fits, cut makes the sample smaller, to measure what that would bring.
func (c *collectionRun) cut(peer int) *summary.Prefix {
	p := c.prefixes()[peer]
	room := c.Bytes - len(must(p.Header().AppendBinary(nil)))
	for target := room; p.Truncate(1).EncodedBytes() > room && target > 0; target -= 8 { // the real size may be larger
		shape := summary.DefaultShape(len(c.fps[peer]))
		shape.SampleBytes = target
		p = must(summary.Build(c.fps[peer], summary.Header{Origin: "peer", Epoch: summary.Epoch{Generation: 1}, Shape: shape}))
		p = p.Truncate(1)
	}
	parts := max(1, sort.Search(p.Parts(), func(i int) bool { return p.Plan().EncodedBytes(i+1) > room }))
	for parts > 1 && p.Truncate(parts).EncodedBytes() > room { // the plan only predicts
		parts--
	}
	return p.Truncate(parts)
}

// sketches has the sketches of one collection, each of the same number of bytes.
type sketches struct {
	lowest    []uint64 // theta: the smallest hashes, 8 bytes each
	buckets   []uint8  // MinHash in one permutation: 8 bits of the smallest hash of each bucket; 0: none
	registers []uint8  // HyperLogLog: 6 bits each
}

// sketch makes three sketches of a collection, each of the given number of bytes. The salt sets the hash function.
func sketch(fps []summary.Fingerprint, bytes int, salt uint64) sketches {
	s := sketches{buckets: make([]uint8, bytes), registers: make([]uint8, bytes*8/6)}
	least := make([]uint64, bytes)
	for i := range least {
		least[i] = math.MaxUint64
	}
	for _, f := range fps {
		h := mixed(uint64(f) ^ salt)
		s.lowest = append(s.lowest, h)
		g := mixed(h)
		b, _ := bits.Mul64(g, uint64(bytes))
		least[b] = min(least[b], h)
		r, _ := bits.Mul64(g, uint64(len(s.registers)))
		s.registers[r] = max(s.registers[r], uint8(bits.LeadingZeros64(h)+1))
	}
	for i, v := range least {
		if v != math.MaxUint64 {
			s.buckets[i] = uint8(1 + mixed(v)%255)
		}
	}
	slices.Sort(s.lowest)
	s.lowest = s.lowest[:min(len(s.lowest), bytes/8)]
	return s
}

// mixed returns Stafford's thirteenth mix of z.
func mixed(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// theta estimates an intersection from the hashes in both sketches, up to the lower of the sketches' greatest hashes.
func theta(a, b []uint64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	limit := min(a[len(a)-1], b[len(b)-1])
	both := 0
	for i, j := 0, 0; i < len(a) && j < len(b) && a[i] <= limit && b[j] <= limit; {
		switch {
		case a[i] == b[j]:
			both++
			i++
			j++
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	return float64(both) / (float64(limit) / math.MaxUint64)
}

// minHash estimates an intersection from the share of buckets that agree, less the share that agrees by chance.
func minHash(a, b []uint8, n1, n2 float64) float64 {
	same, used := 0.0, 0.0
	for i := range a {
		if a[i] != 0 || b[i] != 0 {
			used++
			if a[i] == b[i] {
				same++
			}
		}
	}
	const chance = 1.0 / 255
	j := max(0, (same/max(1, used)-chance)/(1-chance))
	return j / (1 + j) * (n1 + n2)
}

// hyperLogLog estimates a union (Flajolet et al. 2007, with linear counting for few).
func hyperLogLog(a, b []uint8) float64 {
	m, sum, zeros := float64(len(a)), 0.0, 0.0
	for i := range a {
		r := max(a[i], b[i])
		sum += math.Ldexp(1, -int(r))
		if r == 0 {
			zeros++
		}
	}
	e := 0.7213 / (1 + 1.079/m) * m * m / sum
	if e <= 2.5*m && zeros > 0 {
		return m * math.Log(m/zeros)
	}
	return e
}
