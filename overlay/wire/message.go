package wire

import (
	"encoding/binary"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Message is a message that peers exchange.
type Message interface {
	// Append appends the bytes of the message to b.
	Append(b []byte) []byte
	// Size returns the number of bytes that Append appends, without encoding them.
	Size() int
}

// fields is implemented by a message: it writes the message's fields to w.
type fields interface{ fields(w *writer) }

// writer appends a message's fields, or only counts their bytes. It leaves out zero values.
type writer struct {
	b        []byte
	size     int
	counting bool
}

func sizeOf(m fields) int {
	w := writer{counting: true}
	m.fields(&w)
	return w.size
}

func appendTo(b []byte, m fields) []byte {
	w := writer{b: slices.Grow(b, sizeOf(m))}
	m.fields(&w)
	return w.b
}

// head writes the tag of a field and then a varint: the field's value, or its length.
func (w *writer) head(num protowire.Number, typ protowire.Type, v uint64) {
	if w.counting {
		w.size += protowire.SizeTag(num) + protowire.SizeVarint(v)
		return
	}
	w.b = protowire.AppendVarint(protowire.AppendTag(w.b, num, typ), v)
}

func (w *writer) uint(num protowire.Number, v uint64) {
	if v != 0 {
		w.head(num, protowire.VarintType, v)
	}
}

func (w *writer) bool(num protowire.Number, v bool) { w.uint(num, protowire.EncodeBool(v)) }

func (w *writer) fixed64(num protowire.Number, v uint64) {
	switch {
	case v == 0:
	case w.counting:
		w.size += protowire.SizeTag(num) + protowire.SizeFixed64()
	default:
		w.b = protowire.AppendFixed64(protowire.AppendTag(w.b, num, protowire.Fixed64Type), v)
	}
}

func (w *writer) bytes(num protowire.Number, v []byte) {
	w.made(num, len(v), func(b []byte) []byte { return append(b, v...) })
}

// made writes a field of n bytes. f appends these bytes.
func (w *writer) made(num protowire.Number, n int, f func(b []byte) []byte) {
	if n == 0 {
		return
	}
	w.head(num, protowire.BytesType, uint64(n))
	if w.counting {
		w.size += n
		return
	}
	w.b = f(w.b)
}

// nested writes message m as a field.
func (w *writer) nested(num protowire.Number, m fields) {
	n := sizeOf(m)
	if n == 0 {
		return
	}
	w.head(num, protowire.BytesType, uint64(n))
	if w.counting {
		w.size += n
		return
	}
	m.fields(w)
}

// packed writes n numbers as one packed field.
func (w *writer) packed(num protowire.Number, n int, at func(i int) uint64) {
	size := 0
	for i := range n {
		size += protowire.SizeVarint(at(i))
	}
	w.made(num, size, func(b []byte) []byte {
		for i := range n {
			b = binary.AppendUvarint(b, at(i))
		}
		return b
	})
}

// sizeBytes returns the size of a field of n bytes with its tag of one byte and its length.
func sizeBytes(n int) int { return 1 + protowire.SizeBytes(n) }
