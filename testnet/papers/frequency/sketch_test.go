package frequency

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

func TestVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/countmin.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []struct {
			Name      string
			Inputs    struct{ Eps, Delta, W, D float64 }
			Expected  json.RawMessage
			Tolerance struct{ Rel float64 }
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for _, v := range file.Vectors {
		t.Run(v.Name, func(t *testing.T) {
			in := v.Inputs
			var number float64
			var form struct{ W, D, Bound float64 }
			if json.Unmarshal(v.Expected, &number) != nil && json.Unmarshal(v.Expected, &form) != nil {
				t.Fatalf("expected %s", v.Expected)
			}
			got := number
			switch kind, _, _ := strings.Cut(v.Name, "_"); kind {
			case "params":
				p, err := ParamsForError(in.Eps, in.Eps)
				if err != nil || float64(p.Width) != form.W || float64(p.Depth) != form.D || p.Copies != 1 {
					t.Errorf("%+v, %v", p, err)
				}
				number, got = form.Bound, exceeds(p, in.Eps)
			case "classic": // the sketch with one hash function a row that section 9.1 reviews
				if w := math.Ceil(math.E / in.Eps); w != form.W {
					t.Errorf("width %v, want %v", w, form.W)
				}
				if d := math.Ceil(math.Log(1 / in.Delta)); d != form.D {
					t.Errorf("depth %v, want %v", d, form.D)
				}
			case "bound":
				got = exceeds(Params{Width: int(in.W), Depth: int(in.D)}, in.Eps)
			case "hashes":
				p, err := ParamsForError(in.Eps, in.Delta)
				if err != nil {
					t.Fatal(err)
				}
				got = float64(2 * p.Copies)
			default:
				t.Fatal("nothing checks this vector")
			}
			if math.Abs(got-number) > v.Tolerance.Rel*number {
				t.Errorf("got %v, want %v", got, number)
			}
		})
	}
}

// slow is the sketch as section 9.2 tells it, with big numbers for the hash functions.
type slow struct {
	s    *Sketch
	rows [][]uint32
}

func newSlow(s *Sketch) *slow {
	t := &slow{s: s}
	for range s.p.Depth * s.p.Copies {
		t.rows = append(t.rows, make([]uint32, s.p.Width))
	}
	return t
}

func (t *slow) hash(a, b, x uint64) uint64 {
	n := new(big.Int).SetUint64(x)
	n.Mul(n, new(big.Int).SetUint64(a)).Add(n, new(big.Int).SetUint64(b))
	n.Mod(n, big.NewInt(mersenne)).Mod(n, big.NewInt(int64(t.s.p.Width)))
	return n.Uint64()
}

func (t *slow) cells(x uint64) []*uint32 {
	var cells []*uint32
	for i, row := range t.rows {
		h := t.s.hashes[i/t.s.p.Depth]
		g := t.hash(h.a1, h.b1, x) + uint64(i%t.s.p.Depth)*t.hash(h.a2, h.b2, x)
		cells = append(cells, &row[g%uint64(t.s.p.Width)])
	}
	return cells
}

func (t *slow) estimate(x uint64) uint32 {
	least := uint32(math.MaxUint32)
	for _, c := range t.cells(x) {
		least = min(least, *c)
	}
	return least
}

func FuzzSketch(f *testing.F) {
	f.Add(uint64(1), uint8(2), uint8(1), []byte("count-min with two hash functions"))
	f.Add(uint64(2), uint8(4), uint8(2), bytes.Repeat([]byte{0, 50, 100, 250}, 20))
	f.Fuzz(func(t *testing.T, seed uint64, depth, copies uint8, script []byte) {
		p := Params{Width: 13, Depth: 1 + int(depth%6), Copies: 1 + int(copies%3), Seed: seed}
		s, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		twin := newSlow(s)
		truth := make([]uint32, 64)
		for _, op := range script {
			i := uint64(op / 4)
			x := (i + seed) * 0x9e3779b97f4a7c15 // all 64 bits in use
			n := uint32(op%4) + 1
			s.Add(x, n)
			for _, c := range twin.cells(x) {
				*c += n
			}
			truth[i] += n
		}
		for i, n := range truth {
			x := (uint64(i) + seed) * 0x9e3779b97f4a7c15
			if got := s.Estimate(x); got != twin.estimate(x) || got < n {
				t.Fatalf("estimate %d, slow %d, truth %d", got, twin.estimate(x), n)
			}
		}
	})
}

// Over many seeds, estimates exceed eps·total no more often than the theorem allows.
func TestBoundHolds(t *testing.T) {
	const trials, keys, eps = 300, 2000, 0.05
	p, err := ParamsForError(eps, eps)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	exceeded, asked := 0, 0
	for trial := range trials {
		p.Seed = uint64(trial)
		s, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		for i := range keys {
			s.Add(uint64(i)*0x9e3779b97f4a7c15, uint32(keys/(i+1))) // Zipf
		}
		for range 100 {
			asked++
			if float64(s.Estimate(rng.Uint64())) > eps*float64(s.Total()) { // never added
				exceeded++
			}
		}
	}
	if got, bound := float64(exceeded)/float64(asked), exceeds(p, eps); got > bound {
		t.Errorf("%.4f of the estimates are too high, bound %.4f", got, bound)
	}
}

func TestSaturates(t *testing.T) {
	s, _ := New(Params{Width: 3, Depth: 1})
	s.Add(1, math.MaxUint32-1)
	s.Add(1, 5)
	if s.Estimate(1) != math.MaxUint32 {
		t.Errorf("estimate %d", s.Estimate(1))
	}
}

func TestBadParams(t *testing.T) {
	for _, p := range []Params{
		{Width: 100, Depth: 3},
		{Width: 101},
		{Depth: 3},
		{Width: 3, Depth: 4},
		{Width: 101, Depth: 65},
		{Width: 101, Depth: 3, Copies: -1},
		{Width: 268435399, Depth: 60},
	} {
		if _, err := New(p); !errors.Is(err, errParams) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	for _, ed := range [][2]float64{{0, .1}, {1, .1}, {.1, 0}, {.1, 1}, {math.NaN(), .1}, {1e-12, .1}, {.5, 1e-300}} {
		if _, err := ParamsForError(ed[0], ed[1]); !errors.Is(err, errParams) {
			t.Errorf("%v: %v", ed, err)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	s, _ := New(Params{Width: 101, Depth: 4, Copies: 2})
	if n := testing.AllocsPerRun(100, func() {
		s.Add(1, 1)
		s.Estimate(3)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	p, _ := ParamsForError(0.001, 0.001)
	s, _ := New(p)
	b.ReportAllocs()
	x := uint64(1)
	for b.Loop() {
		x *= 0x9e3779b97f4a7c15
		s.Add(x>>44, 1)
	}
}

func BenchmarkEstimate(b *testing.B) {
	p, _ := ParamsForError(0.001, 0.001)
	s, _ := New(p)
	b.ReportAllocs()
	x := uint64(1)
	for b.Loop() {
		x *= 0x9e3779b97f4a7c15
		s.Estimate(x >> 44)
	}
}

// exceeds is the bound of Theorem 9.1: package papers has it for experiments.
func exceeds(p Params, eps float64) float64 {
	w := float64(p.Width)
	one := 2/(eps*w*w) + math.Pow(2/(eps*w), float64(p.Depth))
	return math.Pow(min(1, one), float64(max(1, p.Copies)))
}
