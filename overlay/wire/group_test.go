package wire

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/venn-p2p/venn/summary"
)

// TestTags: the tags of an origin under the numbers of a network differ and lead to each other; that under 0 is the
// hash alone.
func TestTags(t *testing.T) {
	seen := map[uint64]bool{}
	for _, n := range []uint32{0, 1, 2, 7, 1 << 31, 1<<32 - 1} {
		a := summary.Seed{Network: "x", Number: n}.Tag()
		tag := Tag(a, "origin")
		if seen[tag] || n == 0 && tag != OriginTag("origin") {
			t.Errorf("number %d: tag %x", n, tag)
		}
		seen[tag] = true
		for _, m := range []uint32{0, 3, 7} {
			b := summary.Seed{Network: "x", Number: m}.Tag()
			if got := RotateTag(tag, a, b); got != Tag(b, "origin") {
				t.Errorf("from %d to %d: tag %x", n, m, got)
			}
		}
		h := summary.Header{Seed: a, Origin: "origin", Epoch: summary.Epoch{Generation: 1, Sequence: 2}}
		if g := GroupOf(h); g.OriginTag() != tag || g.Epoch() != h.Epoch {
			t.Errorf("number %d: group %v", n, g)
		}
	}
}

// TestFormatExample: the header among the examples of FORMAT.md has the group that stands below it.
func TestFormatExample(t *testing.T) {
	text, err := os.ReadFile("../../summary/FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```\nheader ")
	header, rest, _ := strings.Cut(rest, "\ngroup  ")
	want, _, _ := strings.Cut(rest, "\n")
	b, err := hex.DecodeString(header)
	if err != nil {
		t.Fatal(err)
	}
	h, err := summary.ParseHeader(b)
	if err != nil {
		t.Fatal(err)
	}
	if got := GroupOf(h).String(); got != want {
		t.Errorf("group %s, FORMAT.md has %s", got, want)
	}
}
