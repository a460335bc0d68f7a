package summary

import (
	"fmt"

	"github.com/venn-p2p/venn/summary/internal/bitcode"
)

// decodeUint reads a varint in the shortest form: ErrMalformed for another form, ErrLimit above the limit.
func decodeUint(src []byte, limit uint64) (v uint64, rest []byte, err error) {
	v, used := bitcode.DecodeUvarint(src)
	switch {
	case used == 0:
		return 0, nil, ErrMalformed
	case v > limit:
		return 0, nil, ErrLimit
	}
	return v, src[used:], nil
}

// decodeSize reads a size like decodeUint. With a limit below 0, every size is ErrLimit.
func decodeSize(src []byte, limit int) (v int, rest []byte, err error) {
	u, rest, err := decodeUint(src, uint64(max(limit, 0)))
	if err == nil && limit < 0 {
		err = ErrLimit
	}
	if err != nil {
		return 0, nil, err
	}
	return int(u), rest, nil
}

// decodeCount reads a number of nodes. Every error is ErrMalformed, above the limit, too: no summary has as many.
func decodeCount(src []byte, limit int) (v int, rest []byte, err error) {
	v, rest, err = decodeSize(src, limit)
	if err != nil {
		return 0, nil, fmt.Errorf("summary: not a number of nodes up to %d: %w", limit, ErrMalformed)
	}
	return v, rest, nil
}
