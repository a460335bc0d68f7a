// Package units reads rates and sizes as people write them, for flags, settings and files.
package units

import (
	"fmt"
	"strconv"
	"strings"
)

// unit is a unit of rates or sizes: its name, and its size in bit/s or bytes.
type unit struct {
	name string
	size int64
}

// The units of rates and sizes. Case does not matter. A number without a unit is in bit/s or bytes.
var (
	rates = []unit{{"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}, {"bit", 1}}
	sizes = []unit{{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"b", 1}}
)

// Rate returns bits a second: 20mbit and 20000000 are the same.
func Rate(text string) (int64, error) {
	return parse(text, rates, "a whole number of bits a second, such as 20mbit (bit, kbit, mbit, gbit)")
}

// Bytes returns a number of bytes: 64MiB and 67108864 are the same.
func Bytes(text string) (int64, error) {
	return parse(text, sizes, "a whole number of bytes, such as 64MiB (B, kB, MB, GB, KiB, MiB, GiB)")
}

// parse parses a whole number, 0 or more, with or without a unit.
func parse(text string, units []unit, want string) (int64, error) {
	digits, size := strings.ToLower(text), int64(1)
	for _, u := range units {
		if before, ok := strings.CutSuffix(digits, u.name); ok {
			digits, size = strings.TrimSpace(before), u.size
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > (1<<63-1)/size {
		return 0, fmt.Errorf("%q: want %s", text, want)
	}
	return n * size, nil
}
