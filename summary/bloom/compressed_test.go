package bloom

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/venn-p2p/venn/summary/internal/bitcode"
)

// keysOf is a number of keys so great that whole bits and (1-1/m)^m against 1/e don't show in a vector's tolerance.
const keysOf = 50_000_000

func limitBits(perKey float64) uint64 { return uint64(min(math.Round(perKey*keysOf), maxBits)) }

func (v vector) nearCompression(t *testing.T, got Params) {
	t.Helper()
	want := v.fields(t)
	for field, x := range map[string]float64{
		"k": float64(got.Hashes), "f": got.ExpectedRate(keysOf),
		"m_over_n": float64(got.Bits()) / keysOf, "z_over_n": got.CompressedBits(keysOf) / keysOf,
	} {
		if _, ok := want[field]; ok {
			v.near(t, field, x)
		}
	}
}

func TestVectorsCompressed(t *testing.T) {
	for _, v := range readVectors(t, "compressed") {
		c, k := v.num("m_over_n"), v.num("k")
		p := Params{Blocks: 1, BlockBits: uint64(v.num("m")), Hashes: int(k)}
		switch {
		case strings.HasPrefix(v.Name, "table") && strings.HasSuffix(v.Name, "_z"):
			v.near(t, "", compressedBitsPerKey(c, k))
		case strings.HasPrefix(v.Name, "table"):
			v.near(t, "", asymptoticRate(c, k))
		case strings.HasPrefix(v.Name, "theory_bytes"):
			v.near(t, "", p.CompressedBits(v.int("n"))/8)
		case strings.HasPrefix(v.Name, "sim_avg_bytes"):
			v.near(t, "", meanMessage(t, p, v.int("n"), 20))
		case strings.HasPrefix(v.Name, "ideal_adaptive_mean"):
			v.near(t, "", p.CompressedBits(v.int("n"))/8+math.Log2(v.num("m"))/8-adaptiveGain(p, v.int("n")))
		case strings.HasPrefix(v.Name, "sim_"): // the spread over 10^5 trials is for the experiments
		case strings.HasPrefix(v.Name, "adaptive_len"), strings.HasPrefix(v.Name, "log2binom"): // of the paper's coder, which is not ours
		case strings.HasPrefix(v.Name, "beta"): // package papers has it
		case strings.HasPrefix(v.Name, "optimise"):
			got, err := compressedForBits(keysOf, v.num("z_over_n")*keysOf, limitBits(v.num("max_m_over_n")))
			if err != nil {
				t.Errorf("%s: %v", v.Name, err)
			}
			v.nearCompression(t, got)
		case strings.HasPrefix(v.Name, "for_f"):
			got, err := compressedForRate(keysOf, v.num("f"), limitBits(v.num("max_m_over_n")))
			if err != nil {
				t.Errorf("%s: %v", v.Name, err)
			}
			v.nearCompression(t, got)
		default:
			t.Errorf("%s: no test", v.Name)
		}
	}
}

// adaptiveGain is by how many bytes log2 of C(m, x) is below m H(x/m): half of log2(2 pi m p (1-p)), Stirling.
func adaptiveGain(p Params, n int) float64 {
	fill := fillExpected(p.BlockBits, float64(p.Hashes*n))
	return math.Log2(2*math.Pi*float64(p.BlockBits)*fill*(1-fill)) / 16
}

// randomFilter has n random keys; hashing them would only take time.
func randomFilter(t testing.TB, p Params, n int, r *rand.Rand) *Filter {
	f := must(New(p))
	for range n {
		f.AddHash(Hash{r.Uint64(), r.Uint64()})
	}
	return f
}

// meanMessage is the mean length in bytes of whole messages.
func meanMessage(t *testing.T, p Params, n, trials int) float64 {
	t.Helper()
	codec, err := NewCodec(p)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, p.BlockBits))
	total := 0
	var b []byte
	for range trials {
		if b, err = codec.Append(b[:0], randomFilter(t, p, n, r), nil); err != nil {
			t.Fatal(err)
		}
		total += len(b)
	}
	return float64(total) / float64(trials)
}

// TestVectorsDelta measures the deltas that Mitzenmacher's section IV predicts; package papers has the formulas.
func TestVectorsDelta(t *testing.T) {
	for _, v := range readVectors(t, "delta") {
		if strings.HasPrefix(v.Name, "sim_avg") {
			p := Params{Blocks: 1, BlockBits: uint64(v.num("m")), Hashes: v.int("k")}
			v.near(t, "", meanDelta(t, p, v.int("n"), v.num("change_fraction"), 100))
		}
	}
}

// meanDelta is the mean length of a delta's message after the part change of n keys was replaced.
func meanDelta(t *testing.T, p Params, n int, change float64, trials int) float64 {
	t.Helper()
	codec := must(NewCodec(p))
	r := rand.New(rand.NewPCG(3, 4))
	stay, total := n-int(change*float64(n)), 0
	for range trials {
		kept := randomFilter(t, p, stay, r)
		old, now := randomFilter(t, p, n-stay, r), randomFilter(t, p, n-stay, r)
		if err := errors.Join(old.Merge(kept), now.Merge(kept)); err != nil {
			t.Fatal(err)
		}
		b := must(codec.Append(nil, now, old))
		total += len(b)
	}
	return float64(total) / float64(trials)
}

func TestCompressionKeepsItsPromises(t *testing.T) {
	for _, n := range []int{1, 10, 1000, 100_000} {
		for _, perKey := range []float64{2, 8, 20} {
			for _, times := range []float64{1, 1.5, 4, 100} {
				bits, maxBits := perKey*float64(n), uint64(perKey*times*float64(n))
				got, err := compressedForBits(n, bits, maxBits)
				if err != nil || got.CompressedBits(n) > bits+4 || got.Bits() > maxBits || got.Check() != nil {
					t.Errorf("OptimalCompressed(%d, %v, %d) = %+v, %v", n, bits, maxBits, got, err)
				}
				plain, _ := paramsForBits(n, uint64(bits))
				if got.ExpectedRate(n) > plain.ExpectedRate(n)*1.0001 && n > 10 {
					t.Errorf("OptimalCompressed(%d, %v, %d) has rate %v, a plain filter %v", n, bits, maxBits, got.ExpectedRate(n), plain.ExpectedRate(n))
				}
				for _, rate := range []float64{0.3, 0.01} {
					got, err := compressedForRate(n, rate, maxBits)
					if err == nil && (got.ExpectedRate(n) > rate*(1+1e-9) || got.Bits() > maxBits) {
						t.Errorf("CompressedRate(%d, %v, %d) = %+v", n, rate, maxBits, got)
					}
				}
			}
		}
	}
	for _, err := range []error{
		second(compressedForBits(0, 8, 8)), second(compressedForBits(1, 0, 8)), second(compressedForBits(1, 8, 0)),
		second(compressedForBits(1, math.NaN(), 8)),
		second(compressedForRate(10, 2, 80)), second(compressedForRate(10, 1e-6, 20)), second(compressedForBits(1000, 1e-3, 80000)),
	} {
		if !errors.Is(err, errParams) {
			t.Errorf("%v is not errParams", err)
		}
	}
}

func TestCodecMatchesCoder(t *testing.T) { // the two lengths at which the code changes
	r := rand.New(rand.NewPCG(7, 8))
	for _, m := range []uint64{exactBits, exactBits + 1} {
		f := randomFilter(t, Params{Blocks: 1, BlockBits: m, Hashes: 1}, 20_000, r)
		codec := must(NewCodec(f.Params()))
		b := must(codec.Append(nil, f, nil))
		if most := bitcode.PredictedBytes(int(m), f.OnesCount())*101/100 + 16; len(b) > most {
			t.Errorf("%d bits: %d bytes, more than %d", m, len(b), most)
		}
		if g, err := codec.Decode(b, nil); err != nil || !g.Equal(f) {
			t.Errorf("%d bits: %v", m, err)
		}
	}
}
