package summary_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/venn-p2p/venn/summary"
)

func ExampleEpoch() {
	old, lost := summary.Epoch{Generation: 1, Sequence: 9}, summary.Epoch{Generation: 2} // began again
	fmt.Println(old, lost, lost.After(old))
	// Output: 1.9 2.0 true
}

// Equal keys have equal fingerprints under one seed, and others under another.
func ExampleFingerprint() {
	a, b := summary.Seed{Network: "a"}.Hasher(), summary.Seed{Network: "b"}.Hasher()
	f := a.Fingerprint([]byte("apple"))
	fmt.Println(f == a.Fingerprint([]byte("apple")), f == b.Fingerprint([]byte("apple")), f < 1<<summary.FingerprintBits)
	// Output: true false true
}

func ExampleHasher() {
	hasher := summary.Seed{Network: "example"}.Hasher()
	fmt.Printf("%012x\n", uint64(hasher.Fingerprint([]byte("apple"))))
	// Output: 8616900ab890
}

// The origin signs the bytes of a header.
func ExampleHeader() {
	h := build(collection(0, 10_000), 1).Header()
	payload, err := h.AppendBinary(nil)
	if err != nil {
		panic(err)
	}
	const signer = "peer" // of the signature, which has been verified
	opened, err := summary.ParseHeader(payload)
	fmt.Println(len(payload), "bytes,", opened.N, "keys, signed by its origin:", opened.Origin == signer, err)
	// Equal collections have equal chains, whatever the epoch.
	same, other := build(collection(0, 10_000), 2).Header(), build(collection(1, 10_000), 3).Header()
	fmt.Println(same.Chain == opened.Chain, other.Chain == opened.Chain)
	// Output:
	// 77 bytes, 10000 keys, signed by its origin: true <nil>
	// true false
}

// How many parts a link of 4 KiB bears, before anything is built.
func ExamplePlan() {
	plan, err := summary.NewPlan(10_000, summary.Shape{})
	if err != nil {
		panic(err)
	}
	parts := sort.Search(plan.Parts(), func(i int) bool { return plan.EncodedBytes(i+1) > 4096 })
	fmt.Printf("%d of %d parts, %d bytes, rate %.2f\n", parts, plan.Parts(), plan.EncodedBytes(parts), plan.ExpectedRate(parts))
	// Output: 4 of 14 parts, 3587 bytes, rate 0.26
}

// A longer prefix has fewer false positives. It never denies a key of the collection.
func ExamplePrefix() {
	p := build(collection(0, 10_000), 1)
	for _, parts := range []int{1, 5, p.Parts()} {
		q := p.Truncate(parts)
		fmt.Printf("%5d bytes: rate %.4f, %v\n", q.EncodedBytes(), q.FalsePositiveRate(), q.Contains(collection(7, 1)[0]))
	}
	// Output:
	//  254 bytes: rate 0.9751, true
	//  4960 bytes: rate 0.1382, true
	// 16481 bytes: rate 0.0003, true
}

// A run is what a message carries.
func ExampleRun() {
	p := build(collection(0, 10_000), 1)
	run, err := p.Run(1, 3)
	if err != nil {
		panic(err)
	}
	message := run.AppendBinary(nil)
	got, err := summary.ParseRun(message)
	fmt.Println(got.First, len(got.Parts), got.EncodedBytes() == run.EncodedBytes(), err)
	_, err = summary.ParseRun(message[1:])
	fmt.Println(errors.Is(err, summary.ErrMalformed) || errors.Is(err, summary.ErrLimit))
	// Output:
	// 1 2 true <nil>
	// true
}

// A network that rotates its seed has another hash function under the new number.
func ExampleSeed() {
	old, now := summary.Seed{Network: "example"}, summary.Seed{Network: "example", Number: 1}
	key := []byte("apple")
	fmt.Println(old.Hasher().Fingerprint(key) == now.Hasher().Fingerprint(key))
	// Output: false
}

// A tag names a seed in headers, without the network's name.
func ExampleSeedTag() {
	tag := summary.Seed{Network: "example", Number: 7}.Tag()
	fmt.Printf("%x, number %d, %v\n", tag.Network, tag.Number, bytes.Contains(tag.Network[:], []byte("example")))
	// Output: 1a48759f9003313f, number 7, false
}

// A publisher keeps a shape while the collection fits it, so that deltas stay small.
func ExampleShape() {
	s := summary.DefaultShape(10_000)
	fmt.Printf("%d %d %d %v\n", s.Keys, s.SampleBytes, s.SampleLevel, s.Levels)
	fmt.Println(s.Fits(12_000), s.Fits(20_000))
	_, err := summary.Build(collection(0, 20_000), summary.Header{Origin: "peer", Lifetime: time.Hour, Shape: s})
	fmt.Println(errors.Is(err, summary.ErrMalformed))
	// Output:
	// 10000 256 20 [25]
	// true false
	// true
}

// A list takes less than the 6 bytes that each fingerprint has. The number of fingerprints is kept elsewhere.
func ExampleAppendFingerprints() {
	list := collection(0, 1000)
	slices.Sort(list)
	code := summary.AppendFingerprints(nil, list)
	back, rest, err := summary.DecodeFingerprints(code, 1000)
	fmt.Println(len(code), "bytes,", slices.Equal(back, list), len(rest), err)
	_, _, err = summary.DecodeFingerprints(code[1:], 1000)
	fmt.Println(errors.Is(err, summary.ErrMalformed))
	// Output:
	// 4946 bytes, true 0 <nil>
	// true
}

// A file is read with this package alone: its signature, its header, its parts.
func ExampleFile() {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	mine := signedFile(key, 10_000)

	f, err := summary.ParseFile(mine)
	if err != nil {
		panic(err)
	}
	h, err := f.Header() // verifies the signature
	if err != nil {
		panic(err)
	}
	p, err := summary.NewPrefix(h)
	if err != nil {
		panic(err)
	}
	if p, err = p.Extend(f.Run); err != nil { // verifies the parts
		panic(err)
	}
	fmt.Println(h.N, "keys,", p.Parts(), "parts,", p.Contains(collection(7, 1)[0]))
	f.Envelope[len(f.Envelope)-1]++
	_, err = f.Header()
	fmt.Println(errors.Is(err, summary.ErrSignature))
	_, err = summary.ParseFile([]byte("%PDF-1.4"))
	fmt.Println(err)
	// Output:
	// 10000 keys, 14 parts, true
	// true
	// summary: file: neither a summary nor a delta
}

// signedFile returns the file of a summary, signed by an Ed25519 key.
func signedFile(key ed25519.PrivateKey, n int) []byte {
	public := "\x08\x01\x12\x20" + string(key.Public().(ed25519.PublicKey))
	p, err := summary.Build(collection(0, n), summary.Header{
		Seed: summary.Seed{Network: "example"}.Tag(), Origin: "\x00\x24" + public, Lifetime: time.Hour,
	})
	if err != nil {
		panic(err)
	}
	envelope, _ := p.Header().Sign(func(message []byte) (publicKey, signature []byte, err error) {
		return []byte(public), ed25519.Sign(key, message), nil
	})
	run, _ := p.Run(0, p.Parts())
	return summary.File{Envelope: envelope, Run: run}.AppendBinary(nil)
}
