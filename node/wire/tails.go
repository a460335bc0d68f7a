package wire

import (
	"math"

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
	for _, it := range items {
		group := it.Group[:]
		if it.Short {
			group = group[:tails.ShortGroup]
		}
		item := appendBytes(nil, 1, group)
		item = appendUint(item, 2, uint64(it.Number))
		for _, t := range it.Tails {
			item = appendBytes(item, 3, t)
		}
		item = appendBool(item, 4, it.Gap)
		item = appendBool(item, 5, it.Direct)
		item = appendBool(item, 6, it.Hides)
		item = appendBool(item, 7, it.Left)
		item = appendBool(item, 8, it.Fed)
		item = appendBool(item, 9, it.Wants)
		b = protowire.AppendBytes(protowire.AppendTag(b, 1, protowire.BytesType), item)
	}
	return b
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
