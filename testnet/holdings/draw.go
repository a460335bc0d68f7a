package holdings

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// The rules by which peers choose the keys that they ask for.
const (
	// a key of a peer with the same interest in nine of ten draws, else as Popular; without interests as Popular
	Interest = "interest"
	Uniform  = "uniform" // every key with the same probability
	Popular  = "popular" // a key in proportion to the number of its holders
	Zipf     = "zipf"    // a key by the rank of its number of holders at the start, with a power law
)

// ZipfExponent is the default exponent of popularity, for the rule Zipf and for drawn collections.
const ZipfExponent = 0.8

// Rules has the names of all rules.
var Rules = []string{Interest, Uniform, Popular, Zipf}

// CheckRule returns an error if a rule is not in Rules.
func CheckRule(rule string) error {
	if !slices.Contains(Rules, rule) {
		return fmt.Errorf("%q is none of %s", rule, strings.Join(Rules, ", "))
	}
	return nil
}

// outside is the default share of queries that Interest draws from all peers.
const outside = 0.1

// Drawer draws keys to ask for.
type Drawer[P ~int32] struct {
	Rule     string
	Exponent float64     // exponent of the rule Zipf
	Outside  float64     // share of the draws of the rule Interest that are as Popular; 0: a tenth
	Held     *Now[P]     // the present holders
	Alike    func(P) []P // peers that share an interest with a peer, itself included; nil: no interests are known

	sums   []int    // for each peer, the sum of the collections' sizes at the start, up to its own
	ranked []uint32 // keys held at the start, the most holders first; for Zipf
}

// prepare fills sums and ranked from the collections at the start.
func (d *Drawer[P]) prepare() {
	sum := 0
	for p := range d.Held.Peers() {
		sum += len(d.Held.start.Collection(P(p)))
		d.sums = append(d.sums, sum)
	}
	for k := range d.Held.start.Keys() {
		if len(d.Held.start.Holders(uint32(k))) > 0 {
			d.ranked = append(d.ranked, uint32(k))
		}
	}
	slices.SortStableFunc(d.ranked, func(a, b uint32) int {
		return len(d.Held.start.Holders(b)) - len(d.Held.start.Holders(a))
	})
}

// Key draws the key of a query by peer p. The rule Uniform draws a number below keys, the other rules draw a held key.
// Peer p may hold the key itself, and the key may have no holder.
func (d *Drawer[P]) Key(p P, keys int, rng *rand.Rand) uint32 {
	if d.sums == nil {
		d.prepare()
	}
	switch d.Rule {
	case Uniform:
		return uint32(rng.IntN(keys))
	case Zipf:
		return d.ranked[Rank(len(d.ranked), d.Exponent, rng)]
	case Interest:
		if d.Alike == nil {
			break
		}
		if like := d.Alike(p); len(like) > 1 && rng.Float64() < 1-cmp.Or(d.Outside, outside) {
			return pick(d.Held.Collection(like[rng.IntN(len(like))]), rng)
		}
	}
	at, _ := slices.BinarySearch(d.sums, 1+rng.IntN(d.sums[len(d.sums)-1]))
	return pick(d.Held.Collection(P(at)), rng)
}

// tries is the largest number of draws for one query.
const tries = 200

// Query draws an asker and a key that it lacks. asks reports whether a peer may ask. At least one holder of the key
// satisfies counts. drawn is false if no draw succeeded.
func (d *Drawer[P]) Query(keys int, rng *rand.Rand, asks, counts func(P) bool) (asker P, key uint32, drawn bool) {
	for range tries {
		p := P(rng.IntN(d.Held.Peers()))
		k := d.Key(p, keys, rng)
		if asks(p) && !d.Held.Holds(p, k) && slices.ContainsFunc(d.Held.Holders(k), counts) {
			return p, k, true
		}
	}
	return 0, 0, false
}

func pick[T any](list []T, rng *rand.Rand) T { return list[rng.IntN(len(list))] }

// Rank draws a rank below n with a probability approximately proportional to 1/(rank+1)^s, by inverting the integral
// of that function.
func Rank(n int, s float64, rng *rand.Rand) int {
	u, e := rng.Float64(), 1-s
	x := math.Pow(float64(n)+1, u)
	if math.Abs(e) > 1e-9 {
		x = math.Pow(1+float64(u*(math.Pow(float64(n)+1, e)-1)), 1/e)
	}
	return min(max(int(x)-1, 0), n-1)
}
