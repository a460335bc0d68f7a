package summary

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// someKeys are n distinct random fingerprints.
func someKeys(seed uint64, n int) []Fingerprint {
	rng := rand.New(rand.NewPCG(seed, 1))
	fps := make([]Fingerprint, n)
	for i := range fps {
		fps[i] = Fingerprint(rng.Uint64() >> (64 - FingerprintBits))
	}
	return fps
}

func testHeader(s Shape) Header {
	return Header{Seed: Seed{Network: "test"}.Tag(), Origin: "origin", Epoch: Epoch{1, 2}, Lifetime: time.Hour, Shape: s}
}

func mustBuild(t testing.TB, fps []Fingerprint, s Shape) *Prefix {
	t.Helper()
	return must(Build(fps, testHeader(s)))
}

func TestRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 10, 100, 1000, 1400, 3000, 12123, 40000, 100000} {
		for _, s := range []Shape{
			{},
			{Levels: []uint8{uint8(ceilLog2(n) + 1), uint8(ceilLog2(n) + 1), uint8(ceilLog2(n) + 2)}},
			{SampleBytes: 30000, SampleLevel: uint8(ceilLog2(n) + 4), Levels: []uint8{uint8(ceilLog2(n) + 7)}},
			{SampleBytes: 2000, SampleLevel: uint8(ceilLog2(n) + 7), Levels: []uint8{uint8(ceilLog2(n) + 3), 3}},
		} {
			t.Run(fmt.Sprint(n, s), func(t *testing.T) {
				fps := someKeys(uint64(n), n)
				full := mustBuild(t, fps, s)
				p := must(NewPrefix(full.Header()))
				rng := rand.New(rand.NewPCG(1, 2))
				for p.Parts() < full.Parts() {
					to := min(full.Parts(), p.Parts()+1+rng.IntN(3))
					p = must(p.Extend(must(full.Run(p.Parts(), to))))
					for _, f := range fps {
						if !p.Contains(f) {
							t.Fatalf("%d parts: false negative", p.Parts())
						}
					}
					cut := full.Truncate(p.Parts())
					if cut.FalsePositiveRate() != p.FalsePositiveRate() || cut.EncodedBytes() != p.EncodedBytes() {
						t.Fatalf("%d parts: truncated has rate %v, extended %v", p.Parts(), cut.FalsePositiveRate(), p.FalsePositiveRate())
					}
					if testing.Verbose() {
						t.Logf("%d parts, %d bytes (predicted %d), rate %.4g (predicted %.4g), memory %d", p.Parts(), p.EncodedBytes(), p.Plan().EncodedBytes(p.Parts()), p.FalsePositiveRate(), p.Plan().ExpectedRate(p.Parts()), p.SizeBytes())
					}
				}
				q := must(must(NewPrefix(full.Header())).Extend(must(full.Run(0, full.Parts()))))
				if q.FalsePositiveRate() != full.FalsePositiveRate() || p.FalsePositiveRate() != full.FalsePositiveRate() {
					t.Fatalf("rates %v %v %v", full.FalsePositiveRate(), p.FalsePositiveRate(), q.FalsePositiveRate())
				}
			})
		}
	}
}

// TestMistakes: a mistake of the caller panics, a cut to more than there is changes nothing.
func TestMistakes(t *testing.T) {
	p := mustBuild(t, someKeys(1, 100), Shape{})
	if p.Truncate(p.Parts()+1) != p {
		t.Error("a cut to more than there is changed something")
	}
	defer func() {
		if recover() == nil {
			t.Error("Prefix.Truncate to fewer than no parts: no panic")
		}
	}()
	p.Truncate(-1)
}

func TestExtendRefuses(t *testing.T) {
	full := mustBuild(t, someKeys(1, 3000), Shape{})
	p, _ := NewPrefix(full.Header())
	r := must(full.Run(0, full.Parts())) // TestAnyByte changes every byte
	r.Parts = cloneParts(r.Parts)
	r.Parts[1][0] ^= 1
	if _, err := p.Extend(r); !errors.Is(err, ErrChain) {
		t.Fatal(err)
	}
	r, _ = full.Run(1, 2)
	if _, err := p.Extend(r); !errors.Is(err, ErrLimit) {
		t.Fatal(err)
	}
}
