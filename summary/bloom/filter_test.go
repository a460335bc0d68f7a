package bloom

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// testKeys returns n distinct keys of 20 bytes; different salts give different keys.
func testKeys(n int, salt uint64) [][]byte {
	r := rand.New(rand.NewPCG(salt, 20))
	keys := make([][]byte, n)
	for i := range keys {
		k := binary.LittleEndian.AppendUint64(nil, salt)
		k = binary.LittleEndian.AppendUint32(k, uint32(i))
		keys[i] = binary.LittleEndian.AppendUint64(k, r.Uint64())
	}
	return keys
}

func filled(t testing.TB, p Params, keys [][]byte) *Filter {
	t.Helper()
	f := must(New(p))
	for _, k := range keys {
		f.Add(k)
	}
	return f
}

// someParams are shapes of all kinds: odd and tiny lengths, many blocks, many hashes.
func someParams() []Params {
	var all []Params
	for s := range uint64(2) {
		for _, p := range []Params{
			{Blocks: 1, BlockBits: 1, Hashes: 1},
			{Blocks: 1, BlockBits: 64, Hashes: 3},
			{Blocks: 1, BlockBits: 1000, Hashes: 7},
			{Blocks: 3, BlockBits: 2, Hashes: 1},
			{Blocks: 5, BlockBits: 33, Hashes: 2},
			{Blocks: 8, BlockBits: 4096, Hashes: 1},
			{Blocks: 7, BlockBits: 1022, Hashes: 4},
			{Blocks: maxHashes, BlockBits: 30, Hashes: 1},
		} {
			p.Hasher = Hasher{s, 7}
			all = append(all, p)
		}
	}
	return all
}

func FuzzFilter(f *testing.F) {
	f.Add(uint16(3), uint16(100), uint8(2), uint16(1), []byte("one two three four"))
	for _, p := range someParams() {
		for _, blocks := range []int{1, (p.Blocks + 1) / 2, p.Blocks} {
			f.Add(uint16(p.Blocks-1), uint16(p.BlockBits-1), uint8(p.Hashes-1), uint16(blocks-1), slices.Concat(testKeys(9, p.Hasher.K0)...))
		}
	}
	f.Fuzz(func(t *testing.T, blocks, blockBits uint16, hashes uint8, cut uint16, data []byte) {
		p := Params{int(blocks)%maxHashes + 1, uint64(blockBits%4096) + 1, int(hashes%8) + 1, Hasher{1, 2}}
		p.Hashes = min(p.Hashes, maxHashes/p.Blocks)
		fast, slow := must(New(p)), newSlow(p)
		for i := 0; i+3 <= len(data); i += 3 {
			fast.Add(data[i : i+3])
			slow.add(data[i : i+3])
		}
		if !slow.equal(fast) {
			t.Fatal("bits differ")
		}
		for i := 0; i+2 <= len(data); i += 2 {
			if fast.Contains(data[i:i+2]) != slow.contains(data[i:i+2]) {
				t.Fatal("Contains differs")
			}
		}
		sameInBatches(t, fast, slow, data)
		// Reducing is the same as building small.
		small := p
		small.Blocks = int(cut)%p.Blocks + 1
		fast.Truncate(small.Blocks)
		if small.BlockBits%2 == 0 {
			small.BlockBits /= 2
			fast.Fold()
		}
		slow = newSlow(small)
		for i := 0; i+3 <= len(data); i += 3 {
			slow.add(data[i : i+3])
		}
		if !slow.equal(fast) {
			t.Fatal("bits differ after Truncate and Fold")
		}
		fast.Add([]byte("it still works"))
		if !fast.Contains([]byte("it still works")) {
			t.Fatal("it forgets after Truncate and Fold")
		}
	})
}

// sameInBatches asks in batches, however small the filter is. A batch has the 3-byte keys that were added; another, in
// the same memory, has 2-byte keys.
func sameInBatches(t *testing.T, fast *Filter, slow *slowFilter, data []byte) {
	t.Helper()
	var l lookup
	for _, size := range []int{3, 2} {
		var keys [][]byte
		for i := 0; i+size <= len(data) && len(keys) < batch; i += size {
			l.hashes[len(keys)] = fast.Params().Hasher.Hash(data[i : i+size])
			keys = append(keys, data[i:i+size])
		}
		found := make([]bool, len(keys))
		l.run(&fast.View, found)
		for i, key := range keys {
			if found[i] != slow.contains(key) {
				t.Fatalf("key %d of %d in a batch: %v", i, len(keys), found[i])
			}
		}
	}
}

func TestBatchEndsAndSizes(t *testing.T) {
	for _, blockBits := range []uint64{3000, 64 * cached} { // one by one, and many at once
		testBatch(t, filled(t, Params{Blocks: 4, BlockBits: blockBits, Hashes: 2}, testKeys(2*batch, 1)))
	}
	testBatch(t, filled(t, Params{Blocks: 1, BlockBits: 64 * 2 * cached, Hashes: 1}, testKeys(2*batch, 1)))
	full := must(New(Params{Blocks: 1, BlockBits: 64 * 2 * cached, Hashes: 5}))
	for i := range full.words { // half full, so that keys drop out everywhere
		full.words[i] = 0x6996_9669_5a5a_3cc3
	}
	testBatch(t, full)
}

func testBatch(t *testing.T, f *Filter) {
	t.Helper()
	keys := testKeys(3*batch+1, 1)
	for _, n := range []int{0, 1, batch - 1, batch, batch + 1, len(keys)} {
		found := make([]bool, n)
		for i := range found { // whatever was there is overwritten
			found[i] = i%2 == 0
		}
		f.ContainsAll(keys[:n], found)
		for i, k := range keys[:n] {
			if want := f.Contains(k); found[i] != want {
				t.Fatalf("of %d keys, key %d: %v, want %v", n, i, found[i], want)
			}
		}
	}
}

// TestMistakes: a mistake of the caller panics, a cut to more than there is changes nothing.
func TestMistakes(t *testing.T) {
	p := Params{Blocks: 3, BlockBits: 64, Hashes: 1}
	f := filled(t, p, testKeys(5, 3))
	d := must(NewDynamic(DynamicParams{Batch: p, Threshold: 5}))
	before := f.Clone()
	f.Truncate(4)
	d.Truncate(4)
	if !f.Equal(before) || d.Params().Batch != p {
		t.Error("a cut to more blocks than there are changed something")
	}
	for _, blocks := range []int{0, -1} {
		mustPanic(t, "Truncate", func() { f.Truncate(blocks) })
		mustPanic(t, "Dynamic.Truncate", func() { d.Truncate(blocks) })
	}
	mustPanic(t, "Fold of odd blocks", must(New(Params{Blocks: 1, BlockBits: 3, Hashes: 1})).Fold)
}

// mustPanic holds f to a panic, with one of the values if any are given.
func mustPanic(t *testing.T, what string, f func(), with ...any) {
	t.Helper()
	defer func() {
		if v := recover(); v == nil || len(with) > 0 && !slices.Contains(with, v) {
			t.Errorf("%s: panic %v", what, v)
		}
	}()
	f()
}

func TestMerge(t *testing.T) {
	one, two, both := testKeys(300, 1), testKeys(300, 2), testKeys(100, 3)
	for _, p := range someParams() {
		q := p
		q.Blocks = (p.Blocks + 1) / 2
		f := filled(t, p, slices.Concat(one, both))
		g := filled(t, q, slices.Concat(two, both))
		union := filled(t, q, slices.Concat(one, two, both))

		for _, pair := range [][2]*Filter{{f, g}, {g, f}} {
			or, and := pair[0].Clone(), pair[0].Clone()
			if err := or.Merge(pair[1]); err != nil || !or.Equal(union) {
				t.Errorf("%+v: Or is not the filter of the union: %v", p, err)
			}
			if err := and.Intersect(pair[1]); err != nil {
				t.Error(err)
			}
			for _, k := range both {
				if !and.Contains(k) {
					t.Fatalf("%+v: And forgets", p)
				}
			}
			ones, err := pair[0].AndOnesCount(pair[1])
			if err != nil || ones != and.OnesCount() {
				t.Errorf("%+v: AndOnes = %d, %v, want %d", p, ones, err, and.OnesCount())
			}
		}
	}
}

func TestMergeMismatch(t *testing.T) {
	p := Params{Blocks: 2, BlockBits: 100, Hashes: 2}
	f := filled(t, p, testKeys(10, 1))
	before := f.Clone()
	for name, q := range map[string]Params{
		"bloom: filters do not match: seeds differ":                   {Blocks: 2, BlockBits: 100, Hashes: 2, Hasher: Hasher{1, 0}},
		"bloom: filters do not match: blocks of 100 and 50 bits":      {Blocks: 2, BlockBits: 50, Hashes: 2},
		"bloom: filters do not match: 2 and 1 hash functions a block": {Blocks: 2, BlockBits: 100, Hashes: 1},
	} {
		g := must(New(q))
		_, err := f.AndOnesCount(g)
		for _, err := range []error{err, f.Merge(g), f.Intersect(g)} {
			if !errors.Is(err, ErrMismatch) || err.Error() != name {
				t.Errorf("%v, want %s", err, name)
			}
		}
	}
	if !f.Equal(before) {
		t.Error("a failed merge changed the filter")
	}
}

func TestClearCloneFill(t *testing.T) {
	f := filled(t, Params{Blocks: 3, BlockBits: 70, Hashes: 1}, testKeys(5, 1))
	c := f.Clone()
	f.Reset()
	if f.OnesCount() != 0 || f.FalsePositiveRate() != 0 || c.OnesCount() == 0 || f.Equal(c) {
		t.Error("Clear and Clone")
	}
	want := 1.0
	for b := range 3 {
		want *= float64(c.BlockOnesCount(b)) / 70
	}
	if math.Abs(c.FalsePositiveRate()-want) > 1e-12 {
		t.Errorf("Rate = %v, want %v", c.FalsePositiveRate(), want)
	}
}

func TestParamsCheck(t *testing.T) {
	good := Params{Blocks: 1, BlockBits: 1, Hashes: 1}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for _, p := range []Params{
		{},
		{BlockBits: 1, Hashes: 1},
		{Blocks: 1, Hashes: 1},
		{Blocks: 1, BlockBits: 1},
		{Blocks: -1, BlockBits: 1, Hashes: 1},
		{Blocks: 1, BlockBits: maxBits + 1, Hashes: 1},
		{Blocks: 2, BlockBits: maxBits, Hashes: 1},
		{Blocks: 2, BlockBits: 1, Hashes: maxHashes},
		{Blocks: math.MaxInt, BlockBits: math.MaxUint64, Hashes: math.MaxInt},
	} {
		if _, err := New(p); !errors.Is(err, errParams) {
			t.Errorf("New(%+v): %v", p, err)
		}
	}
	for _, err := range []error{
		second(paramsForBits(-1, 10)), second(paramsForBits(10, 0)), second(paramsForRate(-1, 0.1)), second(paramsForRate(1, 0)),
		second(paramsForRate(1, 1)), second(paramsForRate(1, math.NaN())), second(paramsForRate(math.MaxInt, 0.01)),
		second(partitionedForBits(1, maxBits+1)), second(partitionedForRate(3, -1)), second(partitionedForRate(math.MaxInt, 0.01)),
		second(partitionedForRate(1, 1e-320)),
	} {
		if !errors.Is(err, errParams) {
			t.Errorf("%v is not errParams", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestConfigurations(t *testing.T) {
	for _, n := range []int{0, 1, 10, 1000, 123456} {
		for _, rate := range []float64{0.9, 0.5, 0.1, 0.01, 1e-6} {
			for name, config := range map[string]func(int, float64) (Params, error){"OptimalRate": paramsForRate, "PartitionedRate": partitionedForRate} {
				p, err := config(n, rate)
				if err != nil || p.ExpectedRate(n) > rate*(1+1e-9) {
					t.Errorf("%s(%d, %v) = %+v, rate %v, %v", name, n, rate, p, p.ExpectedRate(n), err)
				}
				if p.BlockBits > 1 {
					p.BlockBits--
					if p.ExpectedRate(n) <= rate {
						t.Errorf("%s(%d, %v) = %+v is not the shortest", name, n, rate, p)
					}
				}
			}
		}
		for _, bits := range []uint64{1, 100, 1 << 20} {
			for name, config := range map[string]func(int, uint64) (Params, error){"Optimal": paramsForBits, "Partitioned": partitionedForBits} {
				p, err := config(n, bits)
				if err != nil || p.Check() != nil || p.Bits() > bits {
					t.Errorf("%s(%d, %v) = %+v, %v", name, n, bits, p, err)
				}
			}
		}
	}
}

func TestNoAllocations(t *testing.T) {
	f := filled(t, Params{Blocks: 5, BlockBits: 1000, Hashes: 2}, testKeys(100, 1))
	g, keys, found := f.Clone(), testKeys(300, 1), make([]bool, 300)
	blocked := must(NewBlockedForRate(1000, 0.01))
	for name, op := range map[string]func(){
		"Add":         func() { f.Add(keys[0]) },
		"Contains":    func() { f.Contains(keys[0]) },
		"ContainsAll": func() { f.ContainsAll(keys, found) },
		"Blocked":     func() { blocked.Add(keys[0]); blocked.ContainsAll(keys, found) },
		"AndOnes":     func() { _, _ = f.AndOnesCount(g) },
		"Ones":        func() { f.OnesCount(); f.FalsePositiveRate() },
		"Or":          func() { _ = f.Merge(g) },
	} {
		if n := testing.AllocsPerRun(10, op); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func FuzzCount(f *testing.F) {
	f.Add([]byte("some bytes"), []byte("more bytes"), uint16(3), uint16(40))
	r := rand.NewChaCha8([32]byte{1})
	for words := range 30 { // whole turns of the loops, and the rest
		x, y := make([]byte, 8*words), make([]byte, 8*words)
		r.Read(x)
		r.Read(y)
		f.Add(x, y, uint16(0), uint16(64*words-1))
	}
	f.Fuzz(func(t *testing.T, x, y []byte, at, n uint16) {
		bits := uint64(min(len(x), len(y))) * 8
		if bits == 0 {
			return
		}
		a, b := toWords(x), toWords(y)
		from := uint64(at) % bits
		count := uint64(n)%(bits-from) + 1
		and, ones := 0, 0
		for i := from; i < from+count; i++ {
			bit := a[i/64] >> (i % 64) & 1
			ones += int(bit)
			and += int(bit & (b[i/64] >> (i % 64)))
		}
		if got := countRange(a, from, count); got != ones {
			t.Errorf("countRange = %d, want %d", got, ones)
		}
		if got := countAndRange(a, b, from, count); got != and {
			t.Errorf("countAndRange = %d, want %d", got, and)
		}
	})
}

func toWords(b []byte) []uint64 {
	words := make([]uint64, (len(b)+7)/8)
	for i, c := range b {
		words[i/8] |= uint64(c) << (i % 8 * 8)
	}
	return words
}

// must returns v. It panics on an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
