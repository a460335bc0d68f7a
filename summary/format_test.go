package summary

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/venn-p2p/venn/summary/internal/bitcode"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

// golden compares got with a file, or writes it.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := must(os.ReadFile(file))
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from what the code gives (rewrite with -rewrite, and change the version):\n%s", file, got)
	}
}

// congruential are n fingerprints that anybody can make: the high bits of Knuth's linear congruential generator.
func congruential(n int) []Fingerprint {
	fps := make([]Fingerprint, n)
	x := uint64(n)
	for i := range fps {
		x = x*6364136223846793005 + 1442695040888963407
		fps[i] = Fingerprint(x >> (64 - FingerprintBits))
	}
	return fps
}

// fewerEpochs builds two epochs of congruential fingerprints. The second lacks the first of every hundred, if there are
// a hundred.
func fewerEpochs(t *testing.T, n int, s Shape) (old, next *Prefix) {
	t.Helper()
	fps := congruential(n)
	var fewer []Fingerprint
	for j, f := range fps {
		if j%100 != 0 || n < 100 {
			fewer = append(fewer, f)
		}
	}
	return epochs(t, fps, fewer, s)
}

// TestGolden holds streams to the bytes they had before.
func TestGolden(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("# n fingerprints, the top 48 bits of x = x*6364136223846793005 + 1442695040888963407, starting from x = n;\n")
	b.WriteString("# keys sampleBytes sampleLevel [levels]; parts, their bytes, SHA-256 of all, h_0, all parts without the first\n")
	b.WriteString("# of every hundred given these: their bytes and SHA-256\n")
	for _, n := range []int{0, 1, 10, 100, 1100, 5000, 20_000, 100_000, 600_000} {
		sampled := DefaultShape(n)
		sampled.SampleBytes = 1 << 10
		for i, s := range []Shape{sampled, {Levels: []uint8{uint8(ceilLog2(n) + 1), uint8(ceilLog2(n) + 2)}}, {SampleBytes: 4000, SampleLevel: uint8(ceilLog2(n) + 5), Levels: []uint8{uint8(ceilLog2(n) + 4), 5}}} {
			if n > 100_000 && i > 0 {
				break // one is enough to have all methods of coding in long parts
			}
			old, next := fewerEpochs(t, n, s)
			all := bytes.Join(old.parts, nil)
			d := related(t, next, next.Parts(), old).Bytes
			h := old.Header()
			fmt.Fprintf(&b, "%d: %d %d %d %v; %d %d %x %x %d %x\n", n, h.Shape.Keys, h.Shape.SampleBytes, h.Shape.SampleLevel, h.Shape.Levels,
				old.Parts(), len(all), sha256.Sum256(all), h.Chain, len(d), sha256.Sum256(d))
		}
	}
	golden(t, "testdata/streams.golden", b.Bytes())
}

// TestFormatExamples holds the examples of FORMAT.md against the code.
func TestFormatExamples(t *testing.T) {
	const file, begin, end = "FORMAT.md", "<!-- examples -->\n", "<!-- end -->"
	text := must(os.ReadFile(file))
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("no place for examples")
	}
	golden(t, file, []byte(before+begin+formatExamples(t)+end+after))
}

// riceExample writes the code of n bits that are all alike but some.
func riceExample(b *strings.Builder, n int, alike uint64, others ...int) {
	words, ones, what := slices.Repeat([]uint64{alike}, (n+63)/64), len(others), "ones"
	if alike != 0 {
		ones, what = n-ones, "all ones but"
		words[n/64] &= 1<<(n%64) - 1
	}
	for _, i := range others {
		words[i/64] ^= 1 << (i % 64)
	}
	places := strings.Trim(fmt.Sprint(others), "[]")
	fmt.Fprintf(b, "| %d | %s %s | %d | %d | %x |\n", n, what, strings.ReplaceAll(places, " ", ", "), len(others),
		bitcode.PredictedBytes(n, ones), bitcode.AppendBits(nil, words, n, ones))
}

func formatExamples(t *testing.T) string {
	var b strings.Builder
	seed := Seed{Network: "example", Number: 1}
	hasher := seed.Hasher()
	var fps []Fingerprint
	fmt.Fprintf(&b, "Network \"example\", seed number 1: tag %x, k0 = %#016x, k1 = %#016x.\n\n", seed.Tag().Network, hasher.k0, hasher.k1)
	b.WriteString("| key | fingerprint | x_0 | x_1 |\n|---|---|---|---|\n")
	for i := range 12 {
		key := fmt.Sprintf("key %d", i)
		f := hasher.Fingerprint([]byte(key))
		fps = append(fps, f)
		if i < 4 {
			fmt.Fprintf(&b, "| `%s` | %012x | %016x | %016x |\n", key, uint64(f), position(f, 0), position(f, 1))
		}
	}
	b.WriteString("\nArrays that have the Rice code; bits are numbered from 0:\n\n")
	b.WriteString("| n | bits | few | predicted bytes | code |\n|---|---|---|---|---|\n")
	riceExample(&b, 5000, 0, 2167, 3563)
	riceExample(&b, 2000, ^uint64(0), 3, 700, 701, 1999)
	h := Header{Seed: seed.Tag(), Origin: "\x00\x01origin", Epoch: Epoch{1, 7}, Lifetime: time.Hour}
	h.Shape = Shape{Keys: 10, SampleBytes: 5, SampleLevel: 7, Levels: []uint8{12, 4}}
	st := must(Build(fps[:10], h))
	p := st
	fmt.Fprintf(&b, "\nKeys 0 to 9, shape of %d keys, sample of %d bytes at level %d, blocks to levels %v:\n\n```\n", h.Shape.Keys, h.Shape.SampleBytes, h.Shape.SampleLevel, h.Shape.Levels)
	header := must(p.Header().AppendBinary(nil))
	fmt.Fprintf(&b, "header %x\ngroup  %x\n", header, p.Header().group())
	for _, s := range p.plan.steps {
		for k := s.first; k < s.first+s.parts; k++ {
			begin, end := p.plan.cells(&s, k)
			what := fmt.Sprintf("block %d, levels %d to %d", s.block, s.from, s.to)
			if s.from == unknownLevel {
				what = fmt.Sprintf("block %d, to level %d", s.block, s.to)
			}
			fmt.Fprintf(&b, "part %d (%s, cells %d to %d, predicted %d bytes) %x\n", k, what, begin, end-1, p.plan.EncodedBytes(k+1)-p.plan.EncodedBytes(k), p.parts[k])
		}
	}
	for k, v := range p.chain {
		fmt.Fprintf(&b, "h_%d    %x\n", k, v)
	}
	r, _ := p.Run(0, 2)
	fmt.Fprintf(&b, "run of parts 0 and 1 %x\n```\n", r.AppendBinary(nil))
	b.WriteString(relativeExamples(t, p, fps[2:12]))
	return b.String()
}

// relativeExamples writes parts of p given a base of other keys and another shape.
func relativeExamples(t *testing.T, p *Prefix, fps []Fingerprint) string {
	var b strings.Builder
	h := p.Header()
	h.Origin, h.Epoch, h.Shape = "\x00\x01other", Epoch{1, 1}, Shape{Keys: 8, Levels: []uint8{9, 6}}
	base := must(Build(fps, h))
	r, _ := base.Run(0, base.Parts())
	fmt.Fprintf(&b, "\nThe base: keys 2 to 11, origin %x, epoch %v, shape of %d keys, no sample, blocks to levels %v. Then relative runs\n", h.Origin, h.Epoch, h.Shape.Keys, h.Shape.Levels)
	b.WriteString("of keys 0 to 9 given it, each with its segments (cells, from, to, given; - for none) and its code alone:\n\n```\n")
	fmt.Fprintf(&b, "group  %x\nrun    %x\n", base.Header().group(), r.AppendBinary(nil))
	level := func(l int) string { return strings.Replace(fmt.Sprint(l), "-1", "-", 1) }
	for _, c := range []struct{ first, end, parts int }{{0, 4, 2}, {0, 1, 1}, {2, 4, 2}} {
		r := must(p.RunRelative(c.first, c.end, base, c.parts))
		fmt.Fprintf(&b, "parts %d to %d given %d: %x\n", c.first, c.end-1, c.parts, r.Bytes)
		coder := newRelativeCoder(p.plan, c.first, c.end, base, c.parts)
		for block, trie := range p.tries {
			for _, s := range p.plan.segments(block, c.first, c.end, &coder.base) {
				fmt.Fprintf(&b, "  block %d, cells %d to %d, %s, %d, %s: %x\n", block, s.begin, s.end-1, level(s.from), s.to, level(s.given),
					coder.appendSegment(nil, block, trie, s))
			}
		}
	}
	b.WriteString("```\n")
	return b.String()
}
