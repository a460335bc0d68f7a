package bitcode

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

// TestGolden holds the codes to the bytes they had before: they are what peers and files exchange. Long ones are held
// by their SHA-256. The bits come from a linear congruential generator, so that anybody can make them.
func TestGolden(t *testing.T) {
	const file = "testdata/codes.golden"
	var b strings.Builder
	b.WriteString("# length, ones, bytes, predicted bytes, code or its SHA-256\n")
	for _, n := range []int{1, 8, 12, 100, 1000, 5000, exactMax, exactMax + 1, 40_000, 250_007, 1 << 20} {
		for _, share := range shares[1:] {
			words, ones := congruential(n, uint64(share))
			code := AppendBits(nil, words, n, ones)
			fmt.Fprintf(&b, "%d %d %d %d %s\n", n, ones, len(code), PredictedBytes(n, ones), digest(code))
		}
	}
	b.WriteString("# length, ones, bytes, code of AppendExact\n")
	for _, share := range []uint64{0, 1, 3000, 30_000, 1 << 16} {
		words, ones := congruential(250_007, share)
		code := AppendExact(nil, words, 250_007, ones)
		fmt.Fprintf(&b, "250007 %d %d %s\n", ones, len(code), digest(code))
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, wanted := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(got), len(wanted)) {
		if got[i] != wanted[i] {
			t.Errorf("line %d:\n%s\nwant\n%s", i+1, got[i], wanted[i])
		}
	}
	if len(got) != len(wanted) {
		t.Errorf("%d lines, want %d", len(got), len(wanted))
	}
}

// digest is a code, or its SHA-256 if it is long.
func digest(code []byte) string {
	if len(code) > 32 {
		return fmt.Sprintf("sha256:%x", sha256.Sum256(code))
	}
	return fmt.Sprintf("%x", code)
}

// congruential sets about share/2^16 of n bits. It sets bit i if the upper 16 bits of the i-th x are below share, where
// x = 6364136223846793005 x + 1442695040888963407 from x = 1 on.
func congruential(n int, share uint64) (words []uint64, ones int) {
	words = make([]uint64, wordsFor(n))
	x := uint64(1)
	for i := range n {
		x = 6364136223846793005*x + 1442695040888963407
		if x>>48 < share {
			words[i/64] |= 1 << (i % 64)
			ones++
		}
	}
	return words, ones
}
