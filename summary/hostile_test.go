package summary

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// FuzzParse holds headers, runs and files to accepting only what their writers write. What is accepted as a header can be
// planned for.
func FuzzParse(f *testing.F) {
	for _, n := range []int{0, 10, 100_000} {
		f.Add(must(mustBuild(f, someKeys(1, n), Shape{}).Header().AppendBinary(nil)))
	}
	full := mustBuild(f, someKeys(1, 2000), Shape{})
	for _, to := range []int{0, 1, full.Parts()} {
		f.Add(must(full.Run(0, to)).AppendBinary(nil))
	}
	for _, n := range []int{0, 10, 2000} {
		file, _ := someFile(f, n, 3)
		f.Add(file.AppendBinary(nil))
	}
	f.Add(File{Envelope: []byte("envelope"), Delta: []byte("changes")}.AppendBinary(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, err := ParseHeader(b); err == nil {
			same(t, b, must(h.AppendBinary(nil)))
			planned(t, h)
		}
		if r, err := ParseRun(b); err == nil {
			same(t, b, r.AppendBinary(nil))
		}
		file, err := ParseFile(b)
		if err == nil {
			same(t, b, file.AppendBinary(nil))
		}
		if h, err := file.Header(); err == nil {
			t.Fatalf("a signature by chance: %+v", h)
		}
	})
}

// same fails if bytes that were accepted are written as others.
func same(t *testing.T, b, again []byte) {
	t.Helper()
	if !bytes.Equal(again, b) {
		t.Fatalf("%x became %x", b, again)
	}
}

// planned fails if a header has a plan that is none, or is not refused as it should be.
func planned(t *testing.T, h Header) {
	t.Helper()
	p, err := NewPrefix(h)
	if err != nil {
		if !errors.Is(err, ErrLimit) && !errors.Is(err, ErrMalformed) {
			t.Fatal(err)
		}
		return
	}
	if got := p.Header(); !reflect.DeepEqual(got, h) {
		t.Fatalf("header %+v became %+v", h, got)
	}
	if p.FalsePositiveRate() != 1 || p.plan.Parts() < 1 || p.plan.Parts() > maxParts {
		t.Fatalf("%d parts, rate %v", p.plan.Parts(), p.FalsePositiveRate())
	}
}

// FuzzExtend is an origin that signs for hostile parts: the genuine ones, some bytes changed. What is accepted encodes
// to the same bytes.
func FuzzExtend(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed, []byte{1, 2, 3}, uint16(300), uint16(7))
	}
	f.Fuzz(func(t *testing.T, seed uint64, change []byte, where, keys uint16) {
		rng := rand.New(rand.NewPCG(seed, 4))
		n := int(keys) % 3000
		full := mustBuild(t, someKeys(seed, n), someShape(rng, n))
		parts := cloneParts(full.parts)
		part := rng.IntN(len(parts))
		b := parts[part]
		at := int(where) % (len(b) + 1)
		parts[part] = slices.Replace(slices.Clone(b), at, min(len(b), at+rng.IntN(len(change)+1)), change...)
		h := full.Header()
		h.Chain = chainOf(Run{Parts: parts})[0]
		p, err := NewPrefix(h)
		if err != nil {
			t.Fatal(err)
		}
		q, err := p.Extend(Run{Parts: parts})
		if err != nil {
			if !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrLimit) {
				t.Fatal(err)
			}
			return
		}
		again, err := encodeParts(q.plan, q.tries, 0, q.Parts())
		if err != nil || !slices.EqualFunc(again, parts, slices.Equal) {
			t.Fatalf("accepted parts that encode to others: %v", err)
		}
	})
}

// TestAnyByte changes every byte of a small stream's header, parts and chain value, one at a time.
func TestAnyByte(t *testing.T) {
	full := mustBuild(t, someKeys(1, 1500), Shape{})
	header, _ := full.Header().AppendBinary(nil)
	run, _ := full.Run(0, full.Parts()-1)
	message := run.AppendBinary(nil)
	open := func(header, message []byte) error {
		h, err := ParseHeader(header)
		if err != nil {
			return err
		}
		if !bytes.Equal(header, must(full.Header().AppendBinary(nil))) {
			return errors.New("signature") // of other bytes
		}
		p, err := NewPrefix(h)
		if err != nil {
			return err
		}
		r, err := ParseRun(message)
		if err != nil {
			return err
		}
		q, err := p.Extend(r)
		if err == nil && q.Parts() != run.end() {
			return errors.New("short")
		}
		return err
	}
	refusesChanges(t, message, func(message []byte) bool { return open(header, message) == nil })
	for i := range header {
		header[i] ^= 1
		if err := open(header, message); err == nil {
			t.Fatalf("byte %d of the header changed: accepted", i)
		}
		header[i] ^= 1
	}
}

// refusesChanges fails if bytes are not accepted, or are when one of them is changed, one is added or some are cut.
func refusesChanges(t *testing.T, b []byte, accepted func([]byte) bool) {
	t.Helper()
	if !accepted(b) {
		t.Fatal("refused")
	}
	for i := range b {
		for _, x := range []byte{1, 0x80, 0xff} {
			b[i] ^= x
			if accepted(b) {
				t.Fatalf("byte %d changed by %#x: accepted", i, x)
			}
			b[i] ^= x
		}
	}
	if accepted(append(slices.Clone(b), 0)) {
		t.Fatal("a byte too many: accepted")
	}
	for n := range b {
		if accepted(b[:n]) {
			t.Fatalf("%d bytes of %d: accepted", n, len(b))
		}
	}
}

// TestClaims is an origin whose arrays have more ones than its keys, or fewer.
func TestClaims(t *testing.T) {
	for _, real := range []int{600, 1500} {
		st := mustBuild(t, someKeys(1, real), Shape{Keys: 1000})
		h := st.Header()
		h.N = 1000
		p := must(NewPrefix(h))
		r, _ := st.Run(0, 1)
		if _, err := p.Extend(r); !errors.Is(err, ErrMalformed) {
			t.Errorf("%d keys claimed to be 1000: %v", real, err)
		}
	}
}
