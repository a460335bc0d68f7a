package summary

import (
	"crypto/sha256"
	"fmt"
)

const (
	// signedDomain precedes a header in the message that its origin signs.
	signedDomain = "venn/header/2\x00"
	// originAt is the place of the origin's length in a header.
	originAt = 1 + 8 + 4
	// maxKey is the most bytes of a public key.
	maxKey = 127
	// shortKey is the most bytes of a key that a peer id contains. The id of a longer key contains its hash.
	shortKey = 42
)

// Signer returns the peer id, in raw bytes, of the public key that a signed form begins with, and what follows the key.
// The key, in libp2p's protocol buffer, stands behind its length of one byte. Signer returns "" if there is none. It
// verifies nothing.
func Signer(b []byte) (id string, rest []byte) {
	if len(b) == 0 || b[0] == 0 || b[0] > maxKey || len(b) < 1+int(b[0]) {
		return "", nil
	}
	key, rest := b[1:1+int(b[0])], b[1+int(b[0]):]
	if len(key) <= shortKey {
		return "\x00" + string(b[:1+len(key)]), rest
	}
	sum := sha256.Sum256(key)
	return "\x12\x20" + string(sum[:]), rest
}

// Sign returns the signed form of h: the public key of its origin after its length of one byte, the header without
// length and bytes of the origin, and the signature. sign returns the key and its signature of a message. ErrSignature
// if the key is not the origin's. O(bytes).
func (h Header) Sign(sign func(message []byte) (key, signature []byte, err error)) ([]byte, error) {
	message, err := h.AppendBinary([]byte(signedDomain))
	if err != nil {
		return nil, err
	}
	key, signature, err := sign(message)
	if err != nil {
		return nil, err
	}
	b := append([]byte{byte(min(len(key), maxKey+1))}, key...)
	if id, _ := Signer(b); id != h.Origin {
		return nil, fmt.Errorf("summary: header of %x signed by another key: %w", h.Origin, ErrSignature)
	}
	header := message[len(signedDomain):]
	b = append(append(b, header[:originAt]...), header[originAt+1+len(h.Origin):]...)
	return append(b, signature...), nil
}

// ParseSigned parses what Sign returns. It does not verify the signature: the caller checks that key signed message. An
// error is ErrSignature if no key comes first, else one of ParseHeader. O(bytes).
func ParseSigned(b []byte) (h Header, key, message, signature []byte, err error) {
	origin, rest := Signer(b)
	if origin == "" {
		return Header{}, nil, nil, nil, fmt.Errorf("summary: signed header without a key: %w", ErrSignature)
	}
	const levelsAt = originAt + 6*4 + 1 // place of the number of blocks, without an origin
	size := levelsAt + 1 + sha256.Size
	if len(rest) > levelsAt {
		size += int(rest[levelsAt])
	}
	if len(rest) < size {
		return Header{}, nil, nil, nil, fmt.Errorf("summary: signed header of %d bytes: %w", len(b), ErrMalformed)
	}
	message = append([]byte(signedDomain), rest[:originAt]...)
	message = append(append(message, byte(len(origin))), origin...)
	message = append(message, rest[originAt:size]...)
	h, err = ParseHeader(message[len(signedDomain):])
	return h, b[1 : len(b)-len(rest)], message, rest[size:], err
}
