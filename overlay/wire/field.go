package wire

import (
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

var (
	// ErrMalformed reports that bytes are not a message of the kind expected.
	ErrMalformed = errors.New("wire: malformed")
	// ErrLimit reports that a message, or a field of it, is above the limit that its Max constant states.
	ErrLimit = errors.New("wire: over the limit")
	// ErrLater reports that a message has a form that only a later version knows. Its sender is not to blame.
	ErrLater = errors.New("wire: of a later version")
)

// decoder reads the fields of one message. Its first error sticks: next then returns false and every value is zero.
type decoder struct {
	name string // name of the message, for errors
	rest []byte
	err  error

	num  protowire.Number
	typ  protowire.Type
	v    uint64 // value of a varint or fixed64 field
	data []byte // value of a field of bytes
	seen uint64 // numbers of the singular fields read so far, a bit each; all are below 64

	skips bool // the caller has not read the current field yet
	later bool // the caller skipped an earlier field
}

// decode starts to read a message. The error is ErrLimit if it has more than limit bytes.
func decode(name string, b []byte, limit int) decoder {
	d := decoder{name: name, rest: b}
	if len(b) > limit {
		d.err = fmt.Errorf("%w: %s of %d bytes, at most %d", ErrLimit, name, len(b), limit)
	}
	return d
}

// next moves to the next field. It returns false at the end of the message or after an error.
func (d *decoder) next() bool {
	d.later = d.later || d.skips
	d.skips = false
	if d.err != nil || len(d.rest) == 0 {
		return false
	}
	d.skips = true
	tag := d.varint()
	num, typ := protowire.DecodeTag(tag)
	if d.err == nil && num < protowire.MinValidNumber {
		d.malformed("field number %d", num)
	}
	d.num, d.typ = num, typ
	switch typ {
	case protowire.VarintType:
		d.v = d.varint()
	case protowire.Fixed64Type:
		d.v = consume(d, protowire.ConsumeFixed64)
	case protowire.Fixed32Type:
		consume(d, protowire.ConsumeFixed32)
	case protowire.BytesType:
		d.data = d.lengthDelimited()
	default:
		d.malformed("field %d of wire type %d", num, typ)
	}
	return d.err == nil
}

// varint reads the next varint, which must be in its shortest form.
func (d *decoder) varint() uint64 {
	if d.err != nil {
		return 0
	}
	v, n := protowire.ConsumeVarint(d.rest)
	if n < 0 || n != protowire.SizeVarint(v) {
		d.malformed("varint")
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// lengthDelimited reads a length and the bytes that follow it. They share the memory of the message.
func (d *decoder) lengthDelimited() []byte {
	n := d.varint()
	if d.err == nil && n > uint64(len(d.rest)) {
		d.malformed("field %d of %d bytes, %d left", d.num, n, len(d.rest))
	}
	if d.err != nil {
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

// consume reads a value by f, a function of protowire that returns the value and its number of bytes.
func consume[T any](d *decoder, f func([]byte) (T, int)) (v T) {
	if d.err != nil {
		return v
	}
	v, n := f(d.rest)
	if n < 0 {
		d.malformed("field %d cut short", d.num)
		return v
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) malformed(format string, args ...any) {
	d.fail(ErrMalformed, format, args...)
}

func (d *decoder) fail(kind error, format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s: %s", kind, d.name, fmt.Sprintf(format, args...))
	}
}

// lacks reports that a message has none of the forms known here. The error is ErrLater if it has unknown fields,
// else ErrMalformed.
func (d *decoder) lacks(format string, args ...any) {
	if d.later {
		d.fail(ErrLater, format, args...)
	}
	d.malformed(format, args...)
}

// is checks that the current field, whose number is known, has the given type.
func (d *decoder) is(typ protowire.Type) bool {
	d.skips = false
	if d.err == nil && d.typ != typ {
		d.malformed("field %d has wire type %d", d.num, d.typ)
	}
	return d.err == nil
}

// once checks the type of the current field, and that its number did not occur before.
func (d *decoder) once(typ protowire.Type) bool {
	if !d.is(typ) {
		return false
	}
	if d.seen&(1<<d.num) != 0 {
		d.malformed("field %d twice", d.num)
		return false
	}
	d.seen |= 1 << d.num
	return true
}

// uint returns the value of a singular varint field. A value above limit is an error.
func (d *decoder) uint(limit uint64) uint64 {
	if !d.once(protowire.VarintType) {
		return 0
	}
	if d.v > limit {
		d.fail(ErrLimit, "field %d is %d, at most %d", d.num, d.v, limit)
		return 0
	}
	return d.v
}

func (d *decoder) int(limit int) int { return int(d.uint(uint64(limit))) }

func (d *decoder) bool() bool { return d.uint(1) == 1 }

func (d *decoder) fixed64() uint64 {
	if !d.once(protowire.Fixed64Type) {
		return 0
	}
	return d.v
}

// double returns the value of a singular field that holds a finite number, at least 0.
func (d *decoder) double() float64 {
	f := math.Float64frombits(d.fixed64())
	if !(f >= 0 && f <= math.MaxFloat64) {
		d.malformed("field %d is %v", d.num, f)
		return 0
	}
	return f
}

// bytes returns the value of a singular field, which must have least to most bytes.
func (d *decoder) bytes(least, most int) []byte {
	if !d.once(protowire.BytesType) {
		return nil
	}
	return d.sized(least, most)
}

// element returns one element of a repeated field, which must have least to most bytes. have is the number of elements
// read before; there may be at most allowed.
func (d *decoder) element(have, allowed, least, most int) []byte {
	if !d.is(protowire.BytesType) {
		return nil
	}
	if have >= allowed {
		d.fail(ErrLimit, "field %d more than %d times", d.num, allowed)
		return nil
	}
	return d.sized(least, most)
}

// sized returns the bytes of the current field, of which there must be least to most.
func (d *decoder) sized(least, most int) []byte {
	switch {
	case len(d.data) > most:
		d.fail(ErrLimit, "field %d of %d bytes, at most %d", d.num, len(d.data), most)
		return nil
	case len(d.data) < least:
		d.malformed("field %d of %d bytes, at least %d", d.num, len(d.data), least)
		return nil
	}
	return d.data
}

// required checks, at the end of a message, that the singular fields with the given numbers occurred.
func (d *decoder) required(nums ...protowire.Number) {
	for _, n := range nums {
		if d.seen&(1<<n) == 0 {
			d.lacks("field %d missing", n)
		}
	}
}
