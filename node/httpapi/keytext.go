package httpapi

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ipfs/go-cid"
	mh "github.com/multiformats/go-multihash"
)

// ErrKeyText means that a text does not stand for a key.
var ErrKeyText = errors.New("no key")

// hexPrefix precedes a key in hexadecimal digits.
const hexPrefix = "hex:"

// maxKey is the most bytes of a key.
const maxKey = 1024

// maxText is more bytes than a key's text can have. Decoding a CID takes time that grows with the square of its
// length, minutes for 1 MiB.
const maxText = 4 * maxKey

// ParseKey returns the key that a text stands for: the multihash of a CID; the bytes whose hexadecimal digits follow
// "hex:"; or else the bytes of the text itself. The error is ErrKeyText if the key is empty or longer than 1024 bytes,
// or if the digits are wrong. It is ErrKeyText, too, if the text looks like a CID but is not one: it was probably
// copied wrong, and no peer would ever have it.
func ParseKey(text string) ([]byte, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("%w: %q has %d bytes, must have 1 to %d", ErrKeyText, shorten(text), len(text), maxKey)
	}
	key := []byte(text)
	if digits, ok := strings.CutPrefix(text, hexPrefix); ok {
		b, err := hex.DecodeString(digits)
		if err != nil {
			return nil, fmt.Errorf("%w: %q: %w", ErrKeyText, shorten(text), err)
		}
		key = b
	} else if mayBeCID(text) {
		c, err := cid.Decode(text)
		if err == nil {
			key = c.Hash()
		} else if meantAsCID(text) {
			return nil, fmt.Errorf("%w: %q is no whole CID (%w); if it is meant as text, write %s%x", ErrKeyText, text, err, hexPrefix, text)
		}
	}
	if len(key) == 0 || len(key) > maxKey {
		return nil, fmt.Errorf("%w: %q has %d bytes, must have 1 to %d", ErrKeyText, shorten(text), len(key), maxKey)
	}
	return key, nil
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=" // characters of CIDs

// mayBeCID rules out most texts that are not CIDs: those that are too short, or have characters that no CID has.
func mayBeCID(text string) bool {
	if len(text) < 8 {
		return false
	}
	for i := range len(text) {
		if !strings.ContainsRune(alphabet, rune(text[i])) {
			return false
		}
	}
	return true
}

// meantAsCID reports whether a text begins like a CID of a SHA-256 hash and has about its length. Version 0 has 46
// characters and begins with Qm. Version 1 has 59 and begins with bafk or bafy. Hexadecimal digits never begin so.
func meantAsCID(text string) bool {
	if strings.ContainsAny(text, "-_+/=") {
		return false
	}
	if strings.HasPrefix(text, "Qm") {
		return len(text) >= 43 && len(text) <= 49
	}
	return len(text) >= 56 && len(text) <= 62 && (strings.HasPrefix(text, "bafk") || strings.HasPrefix(text, "bafy"))
}

// FormatKey returns a text that stands for a key. For a multihash it is the CID of version 1 with codec raw. Other
// keys stand for themselves if they can be printed on a line; else the text is hexadecimal digits. ParseKey is the
// inverse.
func FormatKey(key []byte) string {
	if _, err := mh.Cast(key); err == nil {
		if c := cid.NewCidV1(cid.Raw, key); c.Defined() {
			if s := c.String(); standsFor(s, key) {
				return s
			}
		}
	}
	if s := string(key); printable(s) && standsFor(s, key) {
		return s
	}
	return hexPrefix + hex.EncodeToString(key)
}

func standsFor(text string, key []byte) bool {
	b, err := ParseKey(text)
	return err == nil && string(b) == string(key)
}

// printable reports whether s can stand on a line of its own, and as an argument of a command: one that is neither a
// flag nor "-" for standard input.
func printable(s string) bool {
	if !utf8.ValidString(s) || s == "" || s[0] == '-' || strings.TrimSpace(s) != s {
		return false
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

func shorten(s string) string {
	if len(s) > 40 {
		return s[:37] + "..."
	}
	return s
}
