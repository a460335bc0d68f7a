package tails

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

// someKeys are n random fingerprints.
func someKeys(seed uint64, n int) []summary.Fingerprint {
	return plain.Keys(rand.New(rand.NewPCG(seed, 1)), n)
}

// congruential are n fingerprints that anybody can make: the high bits of Knuth's linear congruential generator.
func congruential(n int) []summary.Fingerprint {
	fps := make([]summary.Fingerprint, n)
	x := uint64(n)
	for i := range fps {
		x = x*6364136223846793005 + 1442695040888963407
		fps[i] = summary.Fingerprint(x >> (64 - summary.FingerprintBits))
	}
	return fps
}

// header heads an epoch of a collection.
func header(t testing.TB, fps []summary.Fingerprint) summary.Header {
	t.Helper()
	shape := summary.DefaultShape(len(fps))
	shape.SampleBytes = 1 << 10 // whatever the default, the goldens stay
	p, err := summary.Build(fps, summary.Header{
		Seed: summary.Seed{Network: "test"}.Tag(), Origin: "origin", Epoch: summary.Epoch{Generation: 1, Sequence: 2}, Lifetime: time.Hour,
		Shape: shape,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p.Header()
}

// tailKey is the key of the test origin.
var tailKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))

func signTail(message []byte) ([]byte, error) { return ed25519.Sign(tailKey, message), nil }

func verifyTail(_ string, message, signature []byte) error {
	if !ed25519.Verify(tailKey.Public().(ed25519.PublicKey), message, signature) {
		return errors.New("bad signature")
	}
	return nil
}

// signed is the signed form of t for h.
func signed(tb testing.TB, t *Tail, h summary.Header) []byte {
	tb.Helper()
	s, err := t.Sign(h, signTail)
	if err != nil {
		tb.Fatal(err)
	}
	return s.AppendSigned(nil)
}

// FuzzTail takes the bytes for a tail and for one that an origin signed, which signs whatever it likes. What is accepted is
// what AppendBinary or AppendSigned writes.
func FuzzTail(f *testing.F) {
	h := header(f, someKeys(1, 100))
	f.Add(signed(f, NewTail(1, 0, someKeys(1, 10), someKeys(2, 10)), h))
	for _, n := range []int{0, 1, 2, 50, 150} {
		keys := someKeys(uint64(n), n)
		f.Add(NewTail(uint32(n)+1, uint32(n)/2, keys[:n/3], keys[n/3:]).appendBinary(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		tail, err := parseTail(b)
		if (tail == nil) != (err != nil) {
			t.Fatalf("tail %v, error %v", tail, err)
		}
		if err == nil {
			again := NewTail(tail.Number(), tail.From(), slices.Collect(tail.Added()), slices.Collect(tail.Removed()))
			if got := again.appendBinary(nil); !bytes.Equal(got, b) {
				t.Fatalf("%x became %x", b, got)
			}
		}
		if tail, err = OpenTail(b, h, func(string, []byte, []byte) error { return nil }); err != nil {
			return
		}
		if got := tail.AppendSigned(nil); !bytes.Equal(got, b) || len(got) > wire.MaxTail {
			t.Fatalf("%x became %x", b, got)
		}
	})
}

// TestTailAnyByte changes every byte of signed tails, cuts them and adds to them.
func TestTailAnyByte(t *testing.T) {
	h := header(t, someKeys(1, 100))
	for _, n := range []int{0, 1, 160} {
		keys := someKeys(2, n)
		b := signed(t, NewTail(3, 1, keys[:n/2], keys[n/2:]), h)
		if _, err := OpenTail(b, h, verifyTail); err != nil {
			t.Fatal(err)
		}
		for i := range b {
			for _, x := range []byte{1, 0x10, 0x80, 0xff} {
				b[i] ^= x
				if _, err := OpenTail(b, h, verifyTail); err == nil {
					t.Fatalf("%d changes, byte %d changed by %#x: accepted", n, i, x)
				}
				b[i] ^= x
			}
			if _, err := OpenTail(b[:i], h, verifyTail); err == nil {
				t.Fatalf("%d changes, cut to %d bytes: accepted", n, i)
			}
		}
		if _, err := OpenTail(append(b, 0), h, verifyTail); err == nil {
			t.Fatal("a byte more: accepted")
		}
	}
}

// TestTailReplay sends a tail with the header of another epoch with the same keys, and so the same h_0. A signature of
// h_0 and the tail alone would verify.
func TestTailReplay(t *testing.T) {
	keys := someKeys(1, 100)
	old := header(t, keys)
	b := signed(t, NewTail(1, 0, someKeys(2, 3), nil), old)
	changes := map[string]func(*summary.Header){
		"epoch":    func(h *summary.Header) { h.Epoch.Sequence++ },
		"seed":     func(h *summary.Header) { h.Seed.Number++ },
		"origin":   func(h *summary.Header) { h.Origin = "other" },
		"lifetime": func(h *summary.Header) { h.Lifetime *= 2 },
	}
	for name, change := range changes {
		h := old
		change(&h)
		st, err := summary.Build(keys, h)
		if err != nil {
			t.Fatal(err)
		}
		if st.Header().Chain != old.Chain {
			t.Fatalf("%s: another h_0", name)
		}
		if _, err := OpenTail(b, st.Header(), verifyTail); !errors.Is(err, ErrSigner) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTailSize holds tails to 12 bytes a change and 120 a tail, and says how many changes fit.
func TestTailSize(t *testing.T) {
	h := header(t, someKeys(1, 100))
	most := 0
	for n := 0; ; n++ {
		keys := someKeys(uint64(n), n)
		s, err := NewTail(1<<20, 1<<20-1, keys[:n/2], keys[n/2:]).Sign(h, signTail)
		if err != nil {
			if !errors.Is(err, summary.ErrLimit) {
				t.Fatal(err)
			}
			break
		}
		if got := len(s.AppendSigned(nil)); got > 120+12*n {
			t.Errorf("%d changes take %d bytes", n, got)
		}
		most = n
	}
	if most < 175 {
		t.Errorf("a signed tail holds only %d changes", most)
	}
}

// TestTailMistakes are those of the caller.
func TestTailMistakes(t *testing.T) {
	for name, f := range map[string]func(){
		"number":   func() { NewTail(2, 2, nil, nil) },
		"both":     func() { NewTail(1, 0, []summary.Fingerprint{1, 2}, []summary.Fingerprint{2}) },
		"bits":     func() { NewTail(1, 0, []summary.Fingerprint{1 << summary.FingerprintBits}, nil) },
		"many":     func() { NewTail(1, 0, someKeys(1, MaxTailChange+1), nil) },
		"unsigned": func() { NewTail(1, 0, nil, nil).AppendSigned(nil) },
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

// tailLines are the goldens: number, from, changes, and the signed bytes.
func tailLines(t *testing.T) string {
	var out strings.Builder
	h := header(t, congruential(300))
	for _, n := range []int{0, 1, 2, 10, 165} {
		keys := congruential(n)
		tail := NewTail(uint32(n+1), uint32(n/2), keys[:n/3], keys[n/3:])
		fmt.Fprintf(&out, "%d %d +%d -%d %s\n", tail.Number(), tail.From(), n/3, n-n/3, hex.EncodeToString(signed(t, tail, h)))
	}
	return out.String()
}

// TestTailGolden holds signed tails to the bytes they had before.
func TestTailGolden(t *testing.T) {
	head := "# Signed tails of the epoch of 300 fingerprints of streams.golden's generator, signed by Ed25519 with the seed 0707…07:\n" +
		"# number, from, fingerprints added and removed (of the generator, the first third added), bytes.\n"
	got := []byte(head + tailLines(t))
	const file = "testdata/tails.golden"
	if *rewrite {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from what the code gives (rewrite with -rewrite, and change the version):\n%s", file, got)
	}
}

// TestFormatExample holds the tails among the examples of FORMAT.md against the code.
func TestFormatExample(t *testing.T) {
	text, err := os.ReadFile("../../summary/FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	field := func(before, after string) string {
		_, rest, _ := strings.Cut(string(text), before)
		found, _, _ := strings.Cut(rest, after)
		return found
	}
	b, err := hex.DecodeString(field("```\nheader ", "\n"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := summary.ParseHeader(b)
	if err != nil {
		t.Fatal(err)
	}
	hasher := summary.Seed{Network: "example", Number: 1}.Hasher()
	key := func(i int) summary.Fingerprint { return hasher.Fingerprint(fmt.Appendf(nil, "key %d", i)) }
	tail := NewTail(3, 1, []summary.Fingerprint{key(10), key(11)}, []summary.Fingerprint{key(0)})
	got := fmt.Sprintf("\n%x\n%x\n", tail.appendBinary(nil), signed(t, tail, h))
	if want := field("32 bytes 07:\n\n```", "```"); got != want {
		t.Errorf("tails %s, FORMAT.md has %s", got, want)
	}
}
