package papers

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"
)

// TestCountMinVectors: parameters and bounds are those of Theorem 9.1.
func TestCountMinVectors(t *testing.T) {
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
		in := v.Inputs
		var number float64
		var form struct{ W, D, Bound float64 }
		if json.Unmarshal(v.Expected, &number) != nil && json.Unmarshal(v.Expected, &form) != nil {
			t.Fatalf("expected %s", v.Expected)
		}
		got := number
		switch kind, _, _ := strings.Cut(v.Name, "_"); kind {
		case "params":
			p := CountMinFor(in.Eps, in.Eps)
			if float64(p.Width) != form.W || float64(p.Depth) != form.D || p.Copies != 1 {
				t.Errorf("%s: %+v", v.Name, p)
			}
			number, got = form.Bound, CountMinExceeds(p, in.Eps)
		case "classic": // the sketch with one hash function a row: no experiment has it
		case "bound":
			got = CountMinExceeds(CountMinParams{Width: int(in.W), Depth: int(in.D), Copies: 1}, in.Eps)
		case "hashes":
			got = float64(2 * CountMinFor(in.Eps, in.Delta).Copies)
		default:
			t.Errorf("nothing checks %s", v.Name)
		}
		if math.Abs(got-number) > v.Tolerance.Rel*number {
			t.Errorf("%s: got %v, want %v", v.Name, got, number)
		}
	}
}

// slowCount counts a key n more times in rows, as section 9.2 tells it with big numbers, and returns its estimate.
func slowCount(s *CountMin, rows [][]uint32, x uint64, n uint32) uint32 {
	hash := func(a, b uint64) uint64 {
		h := new(big.Int).SetUint64(x)
		h.Mul(h, new(big.Int).SetUint64(a)).Add(h, new(big.Int).SetUint64(b))
		return h.Mod(h, big.NewInt(mersenne)).Mod(h, big.NewInt(int64(s.p.Width))).Uint64()
	}
	least := uint32(math.MaxUint32)
	for i, row := range rows {
		c := &row[(hash(s.a1, s.b1)+uint64(i)*hash(s.a2, s.b2))%uint64(s.p.Width)]
		*c += n
		least = min(least, *c)
	}
	return least
}

func FuzzCountMin(f *testing.F) {
	f.Add(uint64(1), uint8(2), []byte("count-min with two hash functions"))
	f.Add(uint64(2), uint8(4), bytes.Repeat([]byte{0, 50, 100, 250}, 20))
	f.Fuzz(func(t *testing.T, seed uint64, depth uint8, script []byte) {
		s := NewCountMin(CountMinParams{Width: 13, Depth: 1 + int(depth%6), Copies: 1}, seed)
		rows := make([][]uint32, s.p.Depth)
		for i := range rows {
			rows[i] = make([]uint32, s.p.Width)
		}
		truth := make([]uint32, 64)
		key := func(i uint64) uint64 { return (i + seed) * 0x9e3779b97f4a7c15 } // all 64 bits in use
		for _, op := range script {
			i, n := uint64(op/4), uint32(op%4)+1
			s.Add(key(i), n)
			slowCount(s, rows, key(i), n)
			truth[i] += n
		}
		for i, n := range truth {
			if got, want := s.Estimate(key(uint64(i))), slowCount(s, rows, key(uint64(i)), 0); got != want || got < n {
				t.Fatalf("estimate %d, slow %d, truth %d", got, want, n)
			}
		}
	})
}
