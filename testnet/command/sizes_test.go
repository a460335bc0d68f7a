package command

import (
	"slices"
	"testing"
)

// A sweep over the size of a network has three points to a decade, ends with the peers asked for and has none twice.
func TestSizes(t *testing.T) {
	for peers, want := range map[int][]any{
		60: {60}, 100: {100}, 101: {100, 101}, 200: {100, 200}, 1000: {100, 200, 500, 1000}, 2160: {100, 200, 500, 1000, 2160},
		2201: {100, 200, 500, 1000, 2200, 2201}, 10_000: {100, 200, 500, 1000, 2200, 4600, 10_000},
	} {
		for i, x := range want {
			want[i] = int64(x.(int))
		}
		if got := sizes(peers); !slices.Equal(got, want) {
			t.Errorf("%d peers: %v, want %v", peers, got, want)
		}
	}
}
