package tails_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"log"

	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/summary"
)

// fingerprints are those of n keys from a number on.
func fingerprints(first, n int) []summary.Fingerprint {
	hasher := summary.Seed{Network: "example"}.Hasher()
	var fps []summary.Fingerprint
	for i := range n {
		fps = append(fps, hasher.Fingerprint(fmt.Appendf(nil, "key %d", first+i)))
	}
	return fps
}

// An origin tells between two epochs what it gained and lost.
func ExampleTail() {
	p, err := summary.Build(fingerprints(0, 10_000), summary.Header{Origin: "origin", Epoch: summary.Epoch{Generation: 1}})
	if err != nil {
		log.Fatal(err)
	}
	// The driver signs with the origin's key; here a sum stands for the signature.
	sum := func(message []byte) []byte { s := sha256.Sum256(message); return s[:] }
	tail, err := tails.NewTail(1, 0, fingerprints(10_000, 5), fingerprints(0, 2)).Sign(p.Header(), func(message []byte) ([]byte, error) {
		return sum(message), nil
	})
	if err != nil {
		log.Fatal(err)
	}
	message := tail.AppendSigned(nil)

	got, err := tails.OpenTail(message, p.Header(), func(origin string, message, signature []byte) error {
		if !bytes.Equal(sum(message), signature) {
			return errors.New("bad signature")
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(got.Len(), "changes, state", got.Number())
	for f := range got.Added() {
		fmt.Println(p.Contains(f))
		break
	}
	// Output:
	// 7 changes, state 1
	// false
}
