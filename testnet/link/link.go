// Package link describes the links of a testnet's peers: classes of declared bandwidth, their mix, and the class of
// each peer. The assignment keeps the mix's shares to within one peer and follows from the seed.
package link

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/venn-p2p/venn/node/units"
)

// MaxRate is the highest declared rate in bit/s.
const MaxRate = 100_000_000_000

// ErrMix is matched by the error for a mix that cannot be parsed.
var ErrMix = errors.New("link: bad mix")

// Class is a kind of link, with the rate that peers declare.
type Class struct {
	Name   string // name as written, like "256kbit"
	Rate   uint64 // bit/s in each direction
	Weight int    // share of the peers, relative to the other classes
}

// Mix has the classes of a network, slowest first.
type Mix []Class

// DefaultMix has a third each of slow, middling and fast links.
const DefaultMix = "256kbit:1,2mbit:1,10mbit:1"

// ParseMix parses classes like "256kbit:1,2mbit:1,10mbit:1": a rate and a weight each. A rate is a whole number with
// the unit bit, kbit, mbit or gbit, a second; k, m and g are powers of 1000. A weight is a whole number of at least
// 1; without one it is 1. Errors match ErrMix.
func ParseMix(text string) (Mix, error) {
	var mix Mix
	for item := range strings.SplitSeq(text, ",") {
		class, err := parseClass(strings.TrimSpace(item))
		if err != nil {
			return nil, err
		}
		same := func(c Class) bool { return c.Rate == class.Rate }
		if slices.ContainsFunc(mix, same) {
			return nil, fmt.Errorf("%w: rate %q twice", ErrMix, class.Name)
		}
		mix = append(mix, class)
	}
	slices.SortFunc(mix, func(a, b Class) int { return cmp.Compare(a.Rate, b.Rate) })
	return mix, nil
}

// parseClass parses a rate with an optional weight, like "2mbit:3".
func parseClass(item string) (Class, error) {
	name, text, weighted := strings.Cut(item, ":")
	rate, err := ParseRate(name)
	if err != nil {
		return Class{}, err
	}
	weight := 1
	if weighted {
		if weight, err = strconv.Atoi(text); err != nil || weight < 1 || weight > 1_000_000 {
			return Class{}, fmt.Errorf("%w: %q: weight %q is no whole number from 1 to 1000000", ErrMix, item, text)
		}
	}
	return Class{Name: name, Rate: rate, Weight: weight}, nil
}

// ParseRate reads a rate in bit/s with its unit. Errors match ErrMix.
func ParseRate(text string) (uint64, error) {
	n, err := units.Rate(text)
	switch {
	case !strings.HasSuffix(text, "bit"):
		return 0, fmt.Errorf("%w: rate %q wants a unit: bit, kbit, mbit or gbit (a second)", ErrMix, text)
	case err != nil || n == 0 || n > MaxRate || strings.Contains(text, " "):
		return 0, fmt.Errorf("%w: rate %q is not from 1bit to 100gbit", ErrMix, text)
	}
	return uint64(n), nil
}

// String returns the mix in the form that ParseMix reads.
func (m Mix) String() string {
	items := make([]string, len(m))
	for i, c := range m {
		items[i] = fmt.Sprintf("%s:%d", c.Name, c.Weight)
	}
	return strings.Join(items, ",")
}

// Assign returns the class of each of n peers, as an index into the mix. Each class gets its share of the peers,
// rounded so that the shares add up. The peers of a class are drawn from rng.
func (m Mix) Assign(n int, rng *rand.Rand) []int {
	total := 0
	for _, c := range m {
		total += c.Weight
	}
	classes := make([]int, 0, n)
	weight := 0
	for i, c := range m {
		weight += c.Weight
		for len(classes) < (2*n*weight+total)/(2*total) { // n·weight/total, rounded
			classes = append(classes, i)
		}
	}
	rng.Shuffle(n, func(i, j int) { classes[i], classes[j] = classes[j], classes[i] })
	return classes
}
