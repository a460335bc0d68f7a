package wire

import (
	"encoding/binary"
	"errors"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// TailItem is one line of a message of tails. It tells which of an origin's tails the sender holds, and carries
// tails that the receiver lacks. An item without tails also tells from whom the sender gets the origin's tails:
// Direct, Fed, Wants, or none set.
type TailItem struct {
	Group  GroupID
	Short  bool   // Group is abbreviated: see [Abbreviate]
	Number uint32 // number of the state that the sender holds
	Gap    bool   // the sender cannot use tails unless they start at state 0
	Direct bool   // the sender is linked with the origin
	Fed    bool   // another peer sends the sender each tail of the origin
	Wants  bool   // the sender asks the receiver to send it each tail after state Number
	// In an item about the sender itself: the sender is leaving. In an item about another origin: the sender cannot
	// reach it.
	Left  bool
	Hides bool     // in an item about the sender itself: the sender holds keys that no summary shows
	Tails [][]byte // signed tails, in order
}

// ShortGroup is the number of bytes of an abbreviated group.
const ShortGroup = 4

// Abbreviate returns a group with only three bytes of the origin's tag and one byte that sums up the epoch, then zeros.
// This abbreviation is enough between peers that both know the epoch. If an abbreviated group fits two epochs, the item
// is about both, and a tail belongs to the group that its signature covers.
func Abbreviate(g GroupID) (short GroupID) {
	copy(short[:3], g[:3])
	short[3] = g[11] + g[15]
	return short
}

// Name sets the item's group to the abbreviation of g.
func (it *TailItem) Name(g GroupID) { it.Group, it.Short = Abbreviate(g), true }

// Names reports whether the item's group is g, or its abbreviation.
func (it *TailItem) Names(g GroupID) bool {
	if it.Short {
		g = Abbreviate(g)
	}
	return g == it.Group
}

// About reports whether the item is about the origin with this tag, in any epoch.
func (it *TailItem) About(tag uint64) bool {
	if it.Short {
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], tag)
		return [3]byte(it.Group[:3]) == [3]byte(b[:3])
	}
	return it.Group.OriginTag() == tag
}

// Tails is a message of at most [MaxTailItems] items about tails of origins.
type Tails []TailItem

// Append appends at most MaxTailItems items to b. An item takes 20 to 26 bytes, 12 less if Short, and 2 for each
// flag. Each tail takes its length and at most 3 bytes.
func (t Tails) Append(b []byte) []byte { return appendTo(b, t) }

// Size returns the number of bytes that Append appends.
func (t Tails) Size() int { return sizeOf(t) }

func (t Tails) fields(w *writer) {
	for i := range t {
		w.nested(1, &t[i])
	}
}

// Size returns the number of bytes that the item adds to a message.
func (it *TailItem) Size() int { return sizeBytes(sizeOf(it)) }

func (it *TailItem) fields(w *writer) {
	w.bytes(1, tailGroup(it))
	w.uint(2, uint64(it.Number))
	for _, t := range it.Tails {
		w.bytes(3, t)
	}
	for i, set := range tailFlags(it) {
		w.bool(protowire.Number(4+i), set)
	}
}

func tailGroup(it *TailItem) []byte {
	if it.Short {
		return it.Group[:ShortGroup]
	}
	return it.Group[:]
}

// tailFlags returns the flags of an item, in the order of their fields, from field 4 on.
func tailFlags(it *TailItem) [6]bool {
	return [6]bool{it.Gap, it.Direct, it.Hides, it.Left, it.Fed, it.Wants}
}

// ParseTails decodes a whole message. It leaves out items of a form that only a later version knows. It does not
// parse the tails.
func ParseTails(b []byte) (Tails, error) {
	var items Tails
	d := decode("tails", b, MaxTails)
	for d.next() {
		if d.num != 1 {
			continue
		}
		b := d.element(len(items), MaxTailItems, 1, MaxTails)
		if d.err != nil {
			break
		}
		switch it, err := parseTailItem(b); {
		case errors.Is(err, ErrLater):
		case err != nil:
			return nil, err
		default:
			items = append(items, it)
		}
	}
	if d.err != nil {
		return nil, d.err
	}
	return items, nil
}

// parseTailItem decodes one item. The error matches ErrLater if the item has no group, but fields unknown here.
func parseTailItem(b []byte) (it TailItem, err error) {
	d := decode("tails of an origin", b, MaxTails)
	for d.next() {
		switch d.num {
		case 1:
			group := d.bytes(ShortGroup, groupBytes)
			it.Short = len(group) == ShortGroup
			if !it.Short && len(group) != groupBytes {
				d.malformed("a group of %d bytes", len(group))
			}
			copy(it.Group[:], group)
		case 2:
			it.Number = uint32(d.uint(math.MaxUint32))
		case 3:
			it.Tails = append(it.Tails, d.element(len(it.Tails), MaxItemTails, 1, MaxTail))
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
		return TailItem{}, d.err
	}
	return it, nil
}
