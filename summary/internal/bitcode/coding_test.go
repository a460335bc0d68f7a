package bitcode

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// randomBits is an array of n bits, ones of them set at random places; always the same.
func randomBits(n, ones int) []uint64 {
	r := rand.New(rand.NewPCG(uint64(n), uint64(ones)))
	words := make([]uint64, wordsFor(n))
	fill(words, n, ones > n/2)
	for range min(ones, n-ones) {
		for {
			i := r.IntN(n)
			if w := words[i/64] ^ 1<<(i%64); (w>>(i%64)&1 == 0) == (ones > n/2) {
				words[i/64] = w
				break
			}
		}
	}
	return words
}

func entropyBytes(n, ones int) float64 {
	p := float64(ones) / float64(n)
	return float64(n) / 8 * (-p*math.Log2(p) - (1-p)*math.Log2(1-p))
}

// TestEntropy holds the code of 128 KiB to the entropy: 1.002 of it from p = 0.05 on, 1.004 from 0.01 on.
func TestEntropy(t *testing.T) {
	const n = 1 << 20
	for permille := 10; permille <= 500; permille += 2 {
		ones := n * permille / 1000
		most := 1.002
		if permille < 50 {
			most = 1.004
		}
		got := len(AppendBits(nil, randomBits(n, ones), n, ones))
		if ratio := float64(got) / entropyBytes(n, ones); ratio > most {
			t.Errorf("p = 0.%03d: %d bytes, %.5f of the entropy, at most %v", permille, got, ratio, most)
		}
	}
}

// TestSmall holds the exact code of small arrays to the logarithm of their number: there are n over ones of them.
func TestSmall(t *testing.T) {
	for n := 1; n <= 2100; n += 1 + n/17 {
		for ones := 0; ones <= n; ones++ {
			if choose(n, ones).method == inRice {
				continue
			}
			got := len(AppendBits(nil, randomBits(n, ones), n, ones))
			if bits := logChoose(n, ones); float64(got) > math.Ceil((bits+1.001)/8) && got < (n+7)/8 || got > (n+7)/8 {
				t.Errorf("n=%d ones=%d: %d bytes for %.2f bits", n, ones, got, bits)
			}
		}
	}
}

// logChoose is log2 of the number of arrays of n bits with the given number of ones.
func logChoose(n, ones int) float64 {
	all, _ := math.Lgamma(float64(n + 1))
	a, _ := math.Lgamma(float64(ones + 1))
	b, _ := math.Lgamma(float64(n - ones + 1))
	return (all - a - b) / math.Ln2
}

// TestRice holds the mean size of the Rice code to the prediction, within a byte, and to the logarithm of the number of
// arrays. That is exceeded by 0.13 bits for each of the few, by half of log2(2 pi few), as the code does not know that
// there are just so few, and by the rest of the last byte.
func TestRice(t *testing.T) {
	const trials = 100
	r := rand.New(rand.NewPCG(1, 5))
	for _, n := range []int{riceFrom + 1, 2500, 9000, 12_500, exactMax} {
		for few := 1; few < n/fewShare; few += 1 + few/4 {
			size := 0
			for range trials {
				words := make([]uint64, wordsFor(n))
				for left := few; left > 0; {
					if i := r.IntN(n); words[i/64]>>(i%64)&1 == 0 {
						words[i/64] |= 1 << (i % 64)
						left--
					}
				}
				size += len(AppendBits(nil, words, n, few))
			}
			mean := float64(size) / trials
			if off := math.Abs(mean - float64(PredictedBytes(n, few))); off > 1+4*riceDeviation(n, few)/math.Sqrt(trials) {
				t.Errorf("n=%d few=%d: %.2f bytes, predicted %d", n, few, mean, PredictedBytes(n, few))
			}
			most := logChoose(n, few) + 0.13*float64(few) + math.Log2(2*math.Pi*float64(few))/2 + 7
			if 8*mean > most {
				t.Errorf("n=%d few=%d: %.1f bits, at most %.1f", n, few, 8*mean, most)
			}
		}
	}
}

// riceDeviation is the standard deviation of the size of the Rice code in bytes: that of so many geometric numbers.
func riceDeviation(n, few int) float64 {
	follows := math.Pow(1-float64(few)/float64(n), float64(int(1)<<choose(n, few).low))
	return math.Sqrt(float64(few)*follows) / (1 - follows) / 8
}

// TestPredictedBytes checks the prediction for small arrays to a byte, where they have the Rice code to three standard
// deviations more, and for large ones to half a percent.
func TestPredictedBytes(t *testing.T) {
	for n := 2; n < 1<<18; n += 1 + n/7 {
		for ones := 1; ones < n; ones += 1 + ones/3 {
			got, predicted := len(AppendBits(nil, randomBits(n, ones), n, ones)), PredictedBytes(n, ones)
			margin := 1.0
			switch c := choose(n, ones); {
			case c.method == inRice:
				margin += 3 * riceDeviation(n, c.few)
			case n > exactMax:
				margin = 8 + 0.005*float64(got)
			}
			if math.Abs(float64(got-predicted)) > margin {
				t.Errorf("n=%d ones=%d: %d bytes, predicted %d", n, ones, got, predicted)
			}
		}
	}
}

// TestEntropyInteger compares the integer entropy, which sizes and choices follow from, with floating point.
func TestEntropyInteger(t *testing.T) {
	for n := 2; n < math.MaxInt>>25; n += 1 + n/2 {
		for ones := 1; ones < n; ones += 1 + ones {
			got, want := float64(entropy(n, ones))/(8<<fraction), entropyBytes(n, ones)
			if math.Abs(got-want) > 0.01+float64(n)/(1<<42) {
				t.Fatalf("n=%d ones=%d: %v, want %v", n, ones, got, want)
			}
		}
	}
}

// TestFrequencies checks, for all probabilities, that every symbol has slots and all have the scale together. None has
// less than a quarter of what its probability asks for: cost.most counts on that.
func TestFrequencies(t *testing.T) {
	var f frequencies
	for p := uint64(1<<16) / 16; p < 31_600; p++ {
		byteFrequencies(&f, p)
		share := float64(p) / (1 << 16)
		for s := range 256 {
			ones := float64(count([]uint64{uint64(s)}, 64))
			want := scale * math.Pow(share, ones) * math.Pow(1-share, 8-ones)
			if got := float64(f.start[s+1]) - float64(f.start[s]); got < 1 || got < want/4 {
				t.Fatalf("p=%d byte %x: %v slots, expected %v", p, s, got, want)
			}
		}
		if f.start[256] != scale {
			t.Fatalf("p=%d: %d slots in all", p, f.start[256])
		}
	}
	for n := exactMax + 1; n < math.MaxInt>>25; n += n / 3 {
		for few := 1; few < n/15; few += 1 + few/2 {
			c := choose(n, few)
			gapFrequencies(&f, c.p, c.low)
			if f.n < 65 || f.n > 256 || f.start[f.n] != scale {
				t.Fatalf("n=%d few=%d: %d symbols, %d slots in all", n, few, f.n, f.start[f.n])
			}
			for s := range f.n {
				if f.start[s+1] < f.start[s]+3 {
					t.Fatalf("n=%d few=%d symbol %d: %d slots", n, few, s, f.start[s+1]-f.start[s])
				}
			}
		}
	}
}

// TestPush compares the multiplications by reciprocals with divisions, at the edges of what a state may be.
func TestPush(t *testing.T) {
	for freq := uint64(1); freq < scale; freq++ {
		s := newSymbol(0, freq)
		for _, x := range []uint64{1, freq, freq + 1, 2*freq - 1, stateStart, freq<<48 - 1, freq<<48 - freq, freq<<47 + 1} {
			if got, want := s.push(x), x/freq*scale+x%freq; got != want {
				t.Fatalf("freq %d, state %x: %x, want %x", freq, x, got, want)
			}
		}
	}
}

func TestDecodeBitsRefuses(t *testing.T) {
	words := make([]uint64, 1)
	for _, c := range []struct {
		name    string
		src     string
		n, ones int
	}{
		{"negative length", "", -1, 0},
		{"negative ones", "", 9, -1},
		{"more ones than bits", "", 9, 10},
		{"nothing", "", 12, 6},
		{"raw with bits after the last", "\x3f\x10", 12, 6},
		{"raw with a wrong count", "\x1f\x00", 12, 6},
		{"the end of the interval", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 64, 1},
	} {
		if _, err := DecodeBits(words, []byte(c.src), c.n, c.ones); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := DecodeExact(nil, nil, 3, 4); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
}

// TestDecodeBitsEveryByte changes every byte of codes of all methods. What is still accepted is the canonical code of
// other bits. Most changes are refused, for the count is off.
func TestDecodeBitsEveryByte(t *testing.T) {
	for _, c := range []struct{ n, ones int }{
		{12_000, 300}, {12_000, 11_990}, {20_000, 150}, {20_000, 19_000}, {17_000, 3000}, {100_000, 30_000}, {200_000, 10_000},
	} {
		code := AppendBits(nil, randomBits(c.n, c.ones), c.n, c.ones)
		words := make([]uint64, wordsFor(c.n))
		for i := 0; i < len(code); i += 1 + len(code)/500 {
			code[i] ^= 0x55
			if consumed, err := DecodeBits(words, code, c.n, c.ones); err == nil {
				if again := AppendBits(nil, words, c.n, c.ones); string(again) != string(code[:consumed]) {
					t.Errorf("%+v: byte %d changed, accepted though not canonical", c, i)
				}
			}
			code[i] ^= 0x55
		}
	}
}

func TestAppendBitsPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"too short":   func() { AppendBits(nil, make([]uint64, 1), 65, 0) },
		"wrong count": func() { AppendBits(nil, make([]uint64, 1), 64, 1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestNoAllocations(t *testing.T) {
	for _, c := range []struct{ n, ones int }{
		{1000, 100}, {12_000, 100}, {20_000, 100}, {20_000, 3000}, {1 << 20, 1 << 14}, {1 << 20, 1 << 18}, {1 << 20, 1 << 19},
	} {
		words := randomBits(c.n, c.ones)
		dst := make([]byte, 0, choose(c.n, c.ones).most+8)
		allocs := testing.AllocsPerRun(5, func() {
			dst = AppendBits(dst[:0], words, c.n, c.ones)
			if _, err := DecodeBits(words, dst, c.n, c.ones); err != nil {
				t.Fatal(err)
			}
		})
		if allocs != 0 {
			t.Errorf("%+v: %v allocations", c, allocs)
		}
	}
}
