package wire

import (
	"math"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/space"
)

const (
	MaxHello        = 36 << 10                // bytes of a Hello
	MaxHelloRecords = overlay.MaxHelloRecords // records in it
)

// AppendHello appends the message to b.
func AppendHello(b []byte, h overlay.Hello) []byte {
	b = appendUint(b, 1, h.Up)
	b = appendUint(b, 2, h.Down)
	b = appendFixed64(b, 3, math.Float64bits(h.FalseMatches))
	b = appendUint(b, 4, uint64(h.Origins))
	b = appendBool(b, 5, h.Neighbour)
	b = appendFixed64(b, 6, h.Session)
	b = appendRecords(b, 7, h.Records)
	b = appendBool(b, 8, h.Full)
	b = appendUint(b, 9, h.Measured)
	b = appendUint(b, 11, uint64(h.Depth))
	b = appendUint(b, 12, uint64(h.Network))
	b = appendBool(b, 13, h.Again)
	b = appendBool(b, 15, h.Tails)
	b = appendBool(b, 16, h.Parted)
	return appendUint(b, 17, uint64(h.Seed))
}

// ParseHello reads a whole message.
func ParseHello(b []byte) (overlay.Hello, error) {
	var h overlay.Hello
	d := decode("hello", b, MaxHello)
	for d.next() {
		switch d.num {
		case 1:
			h.Up = d.uint(math.MaxUint64)
		case 2:
			h.Down = d.uint(math.MaxUint64)
		case 3:
			h.FalseMatches = d.double()
		case 4:
			h.Origins = d.int(math.MaxInt32)
		case 5:
			h.Neighbour = d.bool()
		case 6:
			h.Session = d.fixed64()
		case 7:
			h.Records = append(h.Records, d.record(len(h.Records), MaxHelloRecords))
		case 8:
			h.Full = d.bool()
		case 9:
			h.Measured = d.uint(math.MaxUint64)
		case 11:
			h.Depth = d.int(space.MaxDepth)
		case 12:
			h.Network = d.int(math.MaxInt32)
		case 13:
			h.Again = d.bool()
		case 15:
			h.Tails = d.bool()
		case 16:
			h.Parted = d.bool()
		case 17:
			h.Seed = uint32(d.uint(math.MaxUint32))
		}
	}
	if d.err != nil {
		return overlay.Hello{}, d.err
	}
	return h, nil
}
