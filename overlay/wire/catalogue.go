package wire

import (
	"encoding/binary"
	"iter"
	"math"
	"slices"
)

// Item is one line of a catalogue, about one epoch of one origin. The sender holds its first Have parts, and asks
// the receiver for parts Have to Want-1. With Want 0 it asks for nothing. The sender may name a base in Given, if
// it asks: a summary of any origin that the sender holds, an earlier epoch or a similar one. The receiver may code
// the parts relative to it.
type Item struct {
	Group      GroupID
	Have, Want uint16
	Given      Given
}

// Given names a base of a relative run: the first parts of a summary that a peer holds. The zero Given names none.
type Given struct {
	Group GroupID
	Parts uint16
}

// append appends g to b, in givenBytes bytes.
func (g Given) append(b []byte) []byte {
	return binary.BigEndian.AppendUint16(append(b, g.Group[:]...), g.Parts)
}

// givenOf decodes a Given from the start of b.
func givenOf(b []byte) (g Given) {
	g.Parts = binary.BigEndian.Uint16(b[copy(g.Group[:], b):])
	return g
}

// CatalogueGroup is the group id of the partial messages that carry catalogues.
const CatalogueGroup = "c"

// Catalogue lists what a peer holds and wants: at most [MaxItems] items.
type Catalogue []Item

// Append appends at most MaxItems items to b, in 18 to 40 bytes each.
func (c Catalogue) Append(b []byte) []byte { return appendTo(b, c) }

// Size returns the number of bytes that Append appends.
func (c Catalogue) Size() int { return sizeOf(c) }

// fields writes one field for all groups, one for Have, and one for Want if an item asks for parts. The last field
// holds the bases of the items that ask, if one names a base.
func (c Catalogue) fields(w *writer) {
	w.made(1, groupBytes*len(c), func(b []byte) []byte {
		for i := range c {
			b = append(b, c[i].Group[:]...)
		}
		return b
	})
	w.packed(2, len(c), func(i int) uint64 { return uint64(c[i].Have) })
	if slices.ContainsFunc(c, func(it Item) bool { return it.Want > 0 }) {
		w.packed(3, len(c), func(i int) uint64 { return uint64(c[i].Want) })
	}
	if slices.ContainsFunc(c, func(it Item) bool { return it.given() }) {
		w.made(6, givenBytes*c.asks(), func(b []byte) []byte {
			for i := range c {
				if c[i].Want > 0 {
					b = c[i].Given.append(b)
				}
			}
			return b
		})
	}
}

// given reports whether an item asks for parts and names a base.
func (it *Item) given() bool { return it.Want > 0 && it.Given != Given{} }

// asks returns the number of items that ask for parts.
func (c Catalogue) asks() (n int) {
	for i := range c {
		if c[i].Want > 0 {
			n++
		}
	}
	return n
}

// ParseCatalogue decodes a whole message.
func ParseCatalogue(b []byte) (Catalogue, error) {
	var groups, have, want, given []byte
	d := decode("catalogue", b, MaxCatalogue)
	for d.next() {
		switch d.num {
		case 1:
			groups = d.bytes(0, MaxItems*groupBytes)
		case 2:
			have = d.bytes(0, MaxItems*binary.MaxVarintLen16)
		case 3:
			want = d.bytes(0, MaxItems*binary.MaxVarintLen16)
		case 6:
			given = d.bytes(0, MaxItems*givenBytes)
		}
	}
	n := len(groups) / groupBytes
	if len(groups)%groupBytes != 0 {
		d.malformed("groups of %d bytes", len(groups))
	}
	if d.err == nil && (len(have) < n || want != nil && len(want) < n) {
		d.malformed("%d groups, but %d and %d bytes of numbers", n, len(have), len(want))
	}
	if d.err != nil {
		return nil, d.err
	}
	items := make(Catalogue, n)
	for i := range items {
		copy(items[i].Group[:], groups[i*groupBytes:])
	}
	for i, v := range d.packed(have, n) {
		items[i].Have = v
	}
	for i, v := range d.packed(want, n) {
		items[i].Want = v
	}
	if n := items.asks(); given != nil && len(given) != n*givenBytes {
		d.malformed("%d asks, but %d bytes of bases", n, len(given))
	}
	if d.err != nil {
		return nil, d.err
	}
	for i := range items {
		if given != nil && items[i].Want > 0 {
			items[i].Given, given = givenOf(given), given[givenBytes:]
		}
	}
	return items, nil
}

// packed yields the n numbers of the packed field b. It yields none if b is nil: the message lacks the field.
func (d *decoder) packed(b []byte, n int) iter.Seq2[int, uint16] {
	return func(yield func(int, uint16) bool) {
		if b == nil {
			return
		}
		in := decoder{name: d.name, rest: b}
		for i := range n {
			v := in.varint()
			if v > math.MaxUint16 {
				in.fail(ErrLimit, "number of parts %d", v)
			}
			if in.err != nil || !yield(i, uint16(v)) {
				break
			}
		}
		if len(in.rest) > 0 {
			in.malformed("more numbers than groups")
		}
		if d.err == nil {
			d.err = in.err
		}
	}
}
