package bloom

import (
	"bytes"
	"errors"
	"testing"
)

// codecTypes are a long sparse filter, a partitioned one and a plain one.
func codecTypes() []Params {
	return []Params{
		{Blocks: 1, BlockBits: 1403, Hashes: 2},
		{Blocks: 7, BlockBits: 145, Hashes: 1},
		{Blocks: 1, BlockBits: 800, Hashes: 6},
	}
}

func TestCodecRoundTrip(t *testing.T) {
	codec := must(NewCodec(codecTypes()...))
	for _, p := range codecTypes() {
		for _, n := range []int{0, 1, 100, 300, 10_000} {
			f := filled(t, p, testKeys(n, 1))
			b, err := codec.Append([]byte("before"), f, nil)
			if err != nil || string(b[:6]) != "before" {
				t.Fatal(err)
			}
			b = b[6:]
			got, err := codec.Decode(b, nil)
			if err != nil || !got.Equal(f) {
				t.Fatalf("%+v with %d keys: %v", p, n, err)
			}
			if most := plainBytes(p.Bits()) + 1 + sumBytes; len(b) > most {
				t.Errorf("%+v with %d keys: %d bytes, plain %d", p, n, len(b), most)
			}
			refuseAll(t, codec, b, nil)
		}
	}
}

// refuseAll changes every byte and cuts everywhere.
func refuseAll(t *testing.T, codec *Codec, good []byte, base *Filter) {
	t.Helper()
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1 << (i % 8)
		for _, bad := range [][]byte{bad, good[:i], append(bytes.Clone(good), byte(i))} {
			if _, err := codec.Decode(bad, base); !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrMismatch) {
				t.Fatalf("byte %d of %d changed, cut or added: %v", i, len(good), err)
			}
		}
	}
}

func TestCodecDelta(t *testing.T) {
	codec := must(NewCodec(codecTypes()...))
	for _, p := range codecTypes() {
		base := filled(t, p, testKeys(100, 1))
		next := filled(t, p, append(testKeys(95, 1), testKeys(5, 2)...))
		before := base.Clone()
		for _, to := range []*Filter{next, base, must(New(p))} {
			b, err := codec.Append(nil, to, base)
			if err != nil {
				t.Fatal(err)
			}
			got, err := codec.Decode(b, base)
			if err != nil || !got.Equal(to) || !base.Equal(before) {
				t.Errorf("%+v: %v", p, err)
			}
			if _, err := codec.Decode(b, next); !errors.Is(err, ErrMismatch) {
				t.Errorf("a wrong base: %v", err)
			}
			if _, err := codec.Decode(b, nil); !errors.Is(err, ErrMismatch) {
				t.Errorf("a delta without base: %v", err)
			}
			refuseAll(t, codec, b, base)
		}
		whole, _ := codec.Append(nil, next, nil)
		delta, _ := codec.Append(nil, next, base)
		if len(delta) >= len(whole) {
			t.Errorf("%+v: delta %d bytes, whole %d", p, len(delta), len(whole))
		}
		if got, err := codec.Decode(whole, base); err != nil || !got.Equal(next) {
			t.Errorf("a whole filter beside a base: %v", err)
		}
		other := must(New(codecTypes()[0]))
		if p != other.Params() {
			if _, err := codec.Append(nil, next, other); !errors.Is(err, ErrMismatch) {
				t.Error(err)
			}
			if _, err := codec.Decode(delta, other); !errors.Is(err, ErrMismatch) {
				t.Error(err)
			}
		}
	}
}

func TestCodecMistakes(t *testing.T) {
	codec := must(NewCodec(codecTypes()...))
	odd := must(New(Params{Blocks: 1, BlockBits: 5, Hashes: 1}))
	if _, err := codec.Append(nil, odd, nil); !errors.Is(err, ErrMismatch) {
		t.Error(err)
	}
	for _, err := range []error{second(NewCodec()), second(NewCodec(make([]Params, 17)...)), second(NewCodec(Params{}))} {
		if !errors.Is(err, errParams) {
			t.Error(err)
		}
	}
}

func TestCodecGolden(t *testing.T) {
	codec := must(NewCodec(codecTypes()...))
	var all []byte
	for _, p := range codecTypes() {
		base, next := filled(t, p, testKeys(100, 1)), filled(t, p, testKeys(105, 1))
		all, _ = codec.Append(all, base, nil)
		all, _ = codec.Append(all, next, base)
	}
	golden(t, "codec.golden", all)
}
