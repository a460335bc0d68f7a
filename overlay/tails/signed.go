package tails

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// ErrSigner reports that a tail is not signed by the origin of its epoch.
var ErrSigner = errors.New("tails: signed by another than its origin")

// ErrUnverified reports that the driver does not know yet whether a signature is good. See [Unverified].
var ErrUnverified = errors.New("tails: signature not verified yet")

// Sign returns t signed for the epoch that h heads, to be sent by AppendSigned. The driver's sign returns the signature
// of a message with the key of the epoch's origin, without key or message: 64 bytes for Ed25519. It returns
// summary.ErrLimit if the signed tail would be longer than MaxTail: then it is time for another epoch, or for a tail
// that continues an earlier one.
func (t *Tail) Sign(h summary.Header, sign func(message []byte) (signature []byte, err error)) (*Tail, error) {
	tail := t.appendBinary(nil)
	digest, err := digestOf(h)
	if err != nil {
		return nil, err
	}
	signature, err := sign(digest.message(tail))
	if err != nil {
		return nil, fmt.Errorf("tails: tail: %w", err)
	}
	signed := binary.AppendUvarint(nil, uint64(len(tail)))
	signed = append(append(signed, tail...), signature...)
	if len(signed) > wire.MaxTail {
		return nil, fmt.Errorf("tails: signed tail of %d bytes, at most %d: %w", len(signed), wire.MaxTail, summary.ErrLimit)
	}
	s := *t
	s.signed = signed
	return &s, nil
}

// AppendSigned appends the signed form of t, which OpenTail or Sign returned. It panics if t is not signed.
func (t *Tail) AppendSigned(b []byte) []byte {
	if t.signed == nil {
		panic("tails: tail not signed")
	}
	return append(b, t.signed...)
}

// OpenTail verifies and parses a signed tail of the epoch that h heads. The caller has verified the header's signature.
// The driver's verify returns an error unless the message is signed with the key of the peer id origin. The signature
// covers all of the header, so a tail of another epoch, seed or origin fails. It returns summary.ErrLimit for more than
// MaxTail bytes, ErrSigner if verify returns an error, and ErrMalformed or ErrVersion for bytes that Sign does not
// write.
func OpenTail(signed []byte, h summary.Header, verify func(origin string, message, signature []byte) error) (*Tail, error) {
	tail, signature, err := split(signed)
	if err != nil {
		return nil, err
	}
	t, err := parseTail(tail)
	if err != nil {
		return nil, err
	}
	digest, err := digestOf(h)
	if err != nil {
		return nil, err
	}
	if err := verify(h.Origin, digest.message(tail), signature); err != nil {
		return nil, fmt.Errorf("tails: tail of %x: %w: %w", h.Origin, ErrSigner, err)
	}
	t.signed = bytes.Clone(signed)
	return t, nil
}

// split returns the tail and the signature in a signed tail.
func split(signed []byte) (tail, signature []byte, err error) {
	if len(signed) > wire.MaxTail {
		return nil, nil, fmt.Errorf("tails: signed tail of %d bytes, at most %d: %w", len(signed), wire.MaxTail, summary.ErrLimit)
	}
	length, rest, err := decodeUint(signed, wire.MaxTail)
	if err != nil {
		return nil, nil, fmt.Errorf("tails: size of tail: %w", err)
	}
	if length >= uint64(len(rest)) {
		return nil, nil, fmt.Errorf("tails: tail of %d bytes and signature in %d: %w", length, len(rest), summary.ErrMalformed)
	}
	return rest[:length], rest[length:], nil
}

// numbers returns the states that a signed tail leads to and starts from, by its first bytes. It looks at nothing else.
func numbers(signed []byte) (number, from uint32, err error) {
	tail, _, err := split(signed)
	if err != nil {
		return 0, 0, err
	}
	number, from, _, err = parseNumbers(tail)
	return number, from, err
}

// headerDigest is the hash of a whole header. Epochs with the same keys have the same h_0, but no two have the same
// header.
type headerDigest [sha256.Size]byte

func digestOf(h summary.Header) (headerDigest, error) {
	header, err := h.AppendBinary(nil)
	return sha256.Sum256(header), err
}

// message returns the bytes that the signature of a tail covers: the header, and so h_0, by its hash, and the tail.
func (d *headerDigest) message(tail []byte) []byte {
	const domain = "venn/tail/1\x00"
	message := make([]byte, 0, len(domain)+len(d)+len(tail))
	message = append(append(message, domain...), d[:]...)
	return append(message, tail...)
}
