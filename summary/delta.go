package summary

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/venn-p2p/venn/summary/internal/bitcode"
	"github.com/venn-p2p/venn/summary/internal/trie"
)

// ErrNoDelta says that there is no delta between two prefixes: full parts are needed, or are no larger.
var ErrNoDelta = errors.New("no delta between these")

// EncodeDelta returns what a holder of old, the first parts of one epoch, needs to get those of another. Both are of
// one origin and shape. It covers at most the given number of parts, and as many as both hold. ErrNoDelta when the
// shapes differ or the parts themselves are no larger. Takes time O(n) and about 24 bytes of memory a key.
//
// In each region of hash space that is known at one level, it says which of the old nodes are gone and which are new.
// Each of r nodes removed takes about log2(n/r) + 1.44 bits, each of a added among m about log2(m/a) + 1.44.
func EncodeDelta(old, next *Prefix, parts int) ([]byte, error) {
	parts = min(parts, old.Parts(), next.Parts())
	if err := sameSeries(old.Header(), next.Header()); err != nil {
		return nil, err
	}
	if parts <= 0 {
		return nil, fmt.Errorf("summary: delta of no parts: %w", ErrNoDelta)
	}
	next, err := next.whole()
	if err != nil {
		return nil, err
	}
	b, base := []byte{version}, old.Header().Epoch
	b = binary.BigEndian.AppendUint32(b, base.Generation)
	b = binary.BigEndian.AppendUint32(b, base.Sequence)
	b = binary.AppendUvarint(b, uint64(parts))
	b = append(b, next.chain[1][:]...)
	b = append(b, next.chain[parts][:]...)
	olds, nexts := old.Blocks(), next.Blocks()
	for block := range olds {
		for _, r := range old.plan.knowledge(block, parts) {
			from := olds[block].AppendNodes(nil, r.Begin, r.End, r.Level)
			to := nexts[block].AppendNodes(nil, r.Begin, r.End, r.Level)
			b = appendChange(b, from, to, r.Nodes(nexts[block].Start))
		}
	}
	if full := (Run{Parts: next.parts[:parts]}).EncodedBytes(); len(b) >= full {
		return nil, fmt.Errorf("summary: delta of %d bytes for parts of %d: %w", len(b), full, ErrNoDelta)
	}
	return b, nil
}

// sameSeries says why there can be no delta between two headers.
func sameSeries(old, next Header) error {
	if old.Origin != next.Origin || old.Seed != next.Seed || !old.Shape.equal(next.Shape) {
		return fmt.Errorf("summary: delta between origins, seeds or shapes: %w", ErrNoDelta)
	}
	return nil
}

// DeltaBase is what a delta is to be applied to: the epoch, and how many parts of it. ErrVersion or ErrMalformed if it
// does not begin as a delta does. O(1).
func DeltaBase(delta []byte) (base Epoch, parts int, err error) {
	base, parts, _, err = parseDelta(delta)
	return base, parts, err
}

func parseDelta(delta []byte) (base Epoch, parts int, rest []byte, err error) {
	if len(delta) > 0 && delta[0] != version {
		return Epoch{}, 0, nil, fmt.Errorf("summary: delta: version %d, not %d: %w", delta[0], version, ErrVersion)
	}
	if len(delta) < 9 {
		return Epoch{}, 0, nil, fmt.Errorf("summary: delta of %d bytes: %w", len(delta), ErrMalformed)
	}
	base = Epoch{binary.BigEndian.Uint32(delta[1:]), binary.BigEndian.Uint32(delta[5:])}
	if parts, rest, err = decodeSize(delta[9:], maxParts); err != nil || parts == 0 {
		return Epoch{}, 0, nil, fmt.Errorf("summary: delta: bad number of parts: %w", ErrMalformed)
	}
	if len(rest) < 2*len(digest{}) {
		return Epoch{}, 0, nil, fmt.Errorf("summary: delta of %d bytes: %w", len(delta), ErrMalformed)
	}
	return base, parts, rest, nil
}

// ApplyDelta gives the parts of the epoch that h heads, as many as the delta says, from those of an earlier one. The
// result is encoded and verified against the chain of h, so a delta needs no trust. It gives the origin's parts or an
// error, and old stays as it is. The caller has verified the header's signature. ErrNoDelta if it is on another
// prefix than old or a longer one, or if old and h are not of one series. ErrMalformed or ErrChain if it is not
// what EncodeDelta wrote. Takes time O(n) and about 24 bytes of memory a key.
func ApplyDelta(old *Prefix, h Header, delta []byte) (*Prefix, error) {
	base, parts, rest, err := parseDelta(delta)
	if err != nil {
		return nil, err
	}
	from := old.Header()
	if base != from.Epoch || parts > old.Parts() {
		return nil, fmt.Errorf("summary: delta on %d parts of %v, %d of %v held: %w", parts, base, old.Parts(), from.Epoch, ErrNoDelta)
	}
	if err := sameSeries(from, h); err != nil {
		return nil, err
	}
	p, err := NewPrefix(h)
	if err != nil {
		return nil, err
	}
	d := deltaDecoder{old: old, plan: p.plan, parts: parts, chain: h.Chain, second: digest(rest)}
	next := digest(rest[len(digest{}):])
	tries, err := d.tries(rest[2*len(digest{}):])
	if err != nil {
		return nil, err
	}
	encoded, err := encodeParts(p.plan, tries, 0, parts)
	if err != nil {
		return nil, fmt.Errorf("summary: delta: %w: %w", ErrChain, err)
	}
	if parts == p.plan.parts && next != (digest{}) {
		return nil, fmt.Errorf("summary: delta: more follows the last part: %w", ErrChain)
	}
	chain, err := verify(Run{Parts: encoded, Next: next}, h.Chain)
	if err != nil {
		return nil, err
	}
	if chain[1] != d.second {
		return nil, fmt.Errorf("summary: delta: second value of the chain: %w", ErrChain)
	}
	return newPrefix(p.header, p.plan, encoded, chain, tries), nil
}

// deltaDecoder makes tries of old ones and a delta.
type deltaDecoder struct {
	old    *Prefix
	plan   *Plan
	parts  int
	chain  digest // h_0
	second digest // h_1
}

// tries decodes all changes.
func (d *deltaDecoder) tries(b []byte) ([]*trie.Block, error) {
	var tries []*trie.Block
	for block := range d.plan.blocks {
		regions := d.plan.knowledge(block, d.parts)
		if len(regions) == 0 {
			break
		}
		var changed regionNodes
		changed.start = d.plan.blocks[block].start
		for _, r := range regions {
			old := d.old.Blocks()[block]
			from := old.AppendNodes(nil, r.Begin, r.End, r.Level)
			_, most := d.plan.limits(block, r.Begin, r.End, r.Level)
			nodes, rest, err := decodeChange(b, from, r.Nodes(old.Start), most)
			if err != nil {
				return nil, fmt.Errorf("%w (delta, block %d)", err, block)
			}
			b = rest
			changed.regions, changed.nodes = append(changed.regions, r), append(changed.nodes, nodes)
			if err := d.checkFirst(block, &changed); err != nil {
				return nil, err
			}
		}
		tries = append(tries, assemble(d.plan, d.parts, block, packer(changed.start, changed.append)))
	}
	if len(b) != 0 {
		return nil, fmt.Errorf("summary: delta: %d bytes too many: %w", len(b), ErrMalformed)
	}
	return tries, nil
}

// checkFirst verifies the sample as soon as all of it is known, before the rest is built.
func (d *deltaDecoder) checkFirst(block int, changed *regionNodes) error {
	s := &d.plan.steps[0]
	end := changed.regions[len(changed.regions)-1].End
	sample := d.plan.blocks[0].sample
	if begin := changed.regions[len(changed.regions)-1].Begin; block > 0 || !s.sample || end < sample || begin >= sample {
		return nil
	}
	depth := s.to - int(changed.start)
	part := appendArray(nil, changed.append(nil, 0, sample, s.to), 0, sample<<depth)
	if link(partDigest(0, part), d.second) != d.chain {
		return fmt.Errorf("summary: delta: sample: %w", ErrChain)
	}
	return nil
}

// regionNodes is the nodes of regions in order.
type regionNodes struct {
	start   uint8
	regions []trie.Region
	nodes   [][]uint64
}

// append appends the nodes of cells begin to end-1 at a level not below that of the regions there.
func (n *regionNodes) append(dst []uint64, begin, end, level int) []uint64 {
	for i, r := range n.regions {
		depth := r.Level - int(n.start)
		from, _ := slices.BinarySearch(n.nodes[i], uint64(max(begin, r.Begin))<<depth)
		to, _ := slices.BinarySearch(n.nodes[i], uint64(max(min(end, r.End), 0))<<depth)
		dst = trie.AppendLowered(dst, n.nodes[i][from:max(from, to)], r.Level-level)
	}
	return dst
}

// appendChange appends what makes from of to, both sorted: how many are removed, which, how many are added, and those.
func appendChange(dst []byte, from, to []uint64, in trie.Span) []byte {
	removed := make([]uint64, (len(from)+63)/64)
	gone := 0
	var added []uint64
	for i, j := 0, 0; i < len(from) || j < len(to); {
		switch {
		case j == len(to) || i < len(from) && from[i] < to[j]:
			removed[i/64] |= 1 << (i % 64)
			gone++
			i++
		case i == len(from) || to[j] < from[i]:
			added = append(added, to[j]-in.Begin)
			j++
		default:
			i++
			j++
		}
	}
	dst = binary.AppendUvarint(dst, uint64(gone))
	dst = bitcode.AppendBits(dst, removed, len(from), gone)
	dst = binary.AppendUvarint(dst, uint64(len(added)))
	return bitcode.AppendSparse(dst, added, in.End-in.Begin)
}

// decodeChange is the inverse of appendChange. The result has at most the given number of nodes.
func decodeChange(src []byte, from []uint64, in trie.Span, most int) (to []uint64, rest []byte, err error) {
	gone, src, err := decodeCount(src, len(from))
	if err != nil {
		return nil, nil, err
	}
	removed := make([]uint64, (len(from)+63)/64)
	used, err := bitcode.DecodeBits(removed, src, len(from), gone)
	if err != nil {
		return nil, nil, fmt.Errorf("summary: nodes removed: %w: %w", ErrMalformed, err)
	}
	count, src, err := decodeCount(src[used:], most-(len(from)-gone))
	if err != nil {
		return nil, nil, err
	}
	added, src, err := bitcode.DecodeSparse(src, count, in.End-in.Begin)
	if err != nil {
		return nil, nil, fmt.Errorf("summary: nodes added: %w: %w", ErrMalformed, err)
	}
	to = make([]uint64, 0, len(from)-gone+count)
	for i, v := range from {
		for len(added) > 0 && added[0]+in.Begin < v {
			to, added = append(to, added[0]+in.Begin), added[1:]
		}
		stays := removed[i/64]>>(i%64)&1 == 0
		if len(added) > 0 && added[0]+in.Begin == v {
			return nil, nil, fmt.Errorf("summary: node added that was there: %w", ErrMalformed)
		}
		if stays {
			to = append(to, v)
		}
	}
	for _, v := range added {
		to = append(to, v+in.Begin)
	}
	return to, src, nil
}
