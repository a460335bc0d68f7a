package wire

import (
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/venn-p2p/venn/overlay/tails"
)

const (
	MaxTails     = 64 << 10       // bytes of a message of tails
	MaxTailItems = tails.MaxItems // items in it
	maxTailItem  = MaxTails - 4   // bytes of an item
	maxItemTails = tails.MaxItemTails
)

// AppendTails appends at most MaxTailItems items to b. Each takes 20 to 26 bytes, 12 less if Short, and for each tail
// its length and 3 bytes.
func AppendTails(b []byte, items []tails.Item) []byte {
	size := 0
	for i := range items {
		size += 1 + protowire.SizeBytes(sizeTailItem(&items[i]))
	}
	b = slices.Grow(b, size)
	for i := range items {
		b = protowire.AppendTag(b, 1, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(sizeTailItem(&items[i])))
		b = appendTailItem(b, &items[i])
	}
	return b
}

func appendTailItem(b []byte, it *tails.Item) []byte {
	b = appendBytes(b, 1, tailGroup(it))
	b = appendUint(b, 2, uint64(it.Number))
	for _, t := range it.Tails {
		b = appendBytes(b, 3, t)
	}
	for i, set := range tailFlags(it) {
		b = appendBool(b, protowire.Number(4+i), set)
	}
	return b
}

// sizeTailItem is how many bytes appendTailItem appends.
func sizeTailItem(it *tails.Item) (n int) {
	n = sizeBytes(len(tailGroup(it)))
	if it.Number > 0 {
		n += 1 + protowire.SizeVarint(uint64(it.Number))
	}
	for _, t := range it.Tails {
		n += sizeBytes(len(t))
	}
	for _, set := range tailFlags(it) {
		if set {
			n += 2
		}
	}
	return n
}

func tailGroup(it *tails.Item) []byte {
	if it.Short {
		return it.Group[:tails.ShortGroup]
	}
	return it.Group[:]
}

// tailFlags are the flags of an item, from field 4 on.
func tailFlags(it *tails.Item) [6]bool {
	return [6]bool{it.Gap, it.Direct, it.Hides, it.Left, it.Fed, it.Wants}
}

// ParseTails reads a whole message. The tails are not looked into.
func ParseTails(b []byte) ([]tails.Item, error) {
	var items []tails.Item
	d := decode("tails", b, MaxTails)
	for d.next() {
		if d.num != 1 {
			continue
		}
		b := d.element(len(items), MaxTailItems, 1, maxTailItem)
		if d.err != nil {
			break
		}
		it, err := parseTailItem(b)
		if err != nil {
			return nil, err
		}
		items = append(items, it)
	}
	if d.err != nil {
		return nil, d.err
	}
	return items, nil
}

func parseTailItem(b []byte) (it tails.Item, err error) {
	d := decode("tails of an origin", b, maxTailItem)
	for d.next() {
		switch d.num {
		case 1:
			group := d.bytes(tails.ShortGroup, groupBytes)
			it.Short = len(group) == tails.ShortGroup
			if !it.Short && len(group) != groupBytes {
				d.malformed("a group of %d bytes", len(group))
			}
			copy(it.Group[:], group)
		case 2:
			it.Number = uint32(d.uint(math.MaxUint32))
		case 3:
			it.Tails = append(it.Tails, d.element(len(it.Tails), maxItemTails, 1, tails.MaxTail))
		case 4:
			it.Gap = d.bool()
		case 5:
			it.Direct = d.bool()
		case 6:
			it.Hides = d.bool()
		case 7:
			it.Left = d.bool()
		case 8:
			it.Fed = d.bool()
		case 9:
			it.Wants = d.bool()
		}
	}
	d.required(1)
	if d.err != nil {
		return tails.Item{}, d.err
	}
	return it, nil
}
