package papers

import "github.com/venn-p2p/venn/summary/bloom"

// Scheme derives all positions of a key in a filter from two numbers below the length of a block (Kirsch and
// Mitzenmacher 2008). Hash functions are numbered through all blocks: i = block*Hashes + (hash within the block).
//
// Two keys with the same two numbers collide in every hash function. So the false-positive rate cannot fall below a
// floor, however many functions there are. In a standard filter, where m_b = m is large, the floor seldom matters
// (section 8). In a block-partitioned filter, where m_b is about n/ln 2, it is about 1/(2n). So package bloom has no
// such scheme.
type Scheme uint8

// The schemes, with the position of hash function i. The partition scheme of section 5.1 is Double with one hash
// function in each of k blocks.
const (
	Double         Scheme = iota // h1 + i*h2 mod m_b; floor n/m_b²
	EnhancedSquare               // h1 + i*h2 + i² mod m_b; floor n/m_b²
	EnhancedCube                 // h1 + i*h2 + i³ mod m_b; floor n/m_b²
)

// Filter is a Bloom filter under a Scheme.
type Filter struct {
	scheme Scheme
	p      bloom.Params
	words  []uint64
}

// NewFilter returns an empty filter. The parameters must be valid.
func NewFilter(s Scheme, p bloom.Params) *Filter {
	return &Filter{s, p, make([]uint64, (p.Bits()+63)/64)}
}

// Add adds a key by its hash.
func (f *Filter) Add(h bloom.Hash) {
	f.each(h, func(at uint64) bool {
		f.words[at/64] |= 1 << (at % 64)
		return true
	})
}

// Contains reports whether a key may have been added, by its hash.
func (f *Filter) Contains(h bloom.Hash) bool {
	return f.each(h, func(at uint64) bool { return f.words[at/64]>>(at%64)&1 == 1 })
}

// each calls visit for the positions of a hash, until visit returns false. It reports whether visit never did.
func (f *Filter) each(h bloom.Hash, visit func(at uint64) bool) bool {
	p := newProgression(f.scheme, h, f.p.BlockBits)
	for b := range uint64(f.p.Blocks) {
		for range f.p.Hashes {
			if !visit(b*f.p.BlockBits + p.next()) {
				return false
			}
		}
	}
	return true
}

// progression yields positions modulo m. Each is a step away from the one before.
type progression struct {
	scheme Scheme
	i      uint64 // number of the next hash function
	m      uint64
	x, y   uint64 // position, and step to the next one; both below m
}

func newProgression(s Scheme, h bloom.Hash, m uint64) progression {
	return progression{scheme: s, m: m, x: h.A % m, y: h.B % m}
}

// next returns the position within the block of the next hash function.
func (p *progression) next() uint64 {
	at, i := p.x, p.i
	p.i++
	switch p.scheme {
	case EnhancedSquare: // (i+1)² - i²
		p.x += (2*i + 1) % p.m
	case EnhancedCube: // (i+1)³ - i³
		p.x += (3*i*i + 3*i + 1) % p.m
	}
	p.x = (p.x + p.y) % p.m
	return at
}
