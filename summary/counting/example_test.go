package counting_test

import (
	"fmt"
	"log"

	"github.com/venn-p2p/venn/summary/counting"
)

// A mirror of a collection that grows: whole 48-bit fingerprints are kept and can be listed.
func ExampleDLeft() {
	p := counting.ParamsForFingerprint(1000, 48)
	p.Seed = 42 // in earnest: random, and kept secret
	mirror, err := counting.NewDLeft(p)
	if err != nil {
		log.Fatal(err)
	}
	for key := range uint64(5000) {
		if err := mirror.Add(key * 0x9e3779b97f4a >> 1); err != nil {
			log.Fatal(err)
		}
	}
	mirror.Remove(0)
	listed := 0
	for range mirror.All {
		listed++
	}
	_ = mirror.Add(0x9e3779b97f4a >> 1)
	fmt.Println(mirror.Count(0x9e3779b97f4a >> 1))
	mirror.Remove(0x9e3779b97f4a >> 1)
	fmt.Println(mirror.Len(), listed, mirror.Contains(0), mirror.Params().Buckets)
	// Output:
	// 2
	// 4999 4999 false 256
}

// The filter of the paper's section 5 for 49,152 members: 14-bit remainders, two words a bucket.
func ExampleParamsForFingerprint() {
	p := counting.ParamsForFingerprint(49152, 48)
	p.RemainderBits = 14
	f, err := counting.NewDLeft(p)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(8*f.SizeBytes(), "bits")
	// Output: 1048576 bits
}

// A form with 24-bit remainders for 10,000 members: less than one false positive in a million questions.
func ExampleParams() {
	p := counting.ParamsForFingerprint(10_000, 48)
	p.RemainderBits = 24
	p.Seed = 42 // in earnest: random, and kept secret
	f, err := counting.NewDLeft(p)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Subtables, p.Buckets, p.Cells, p.RemainderBits, p.CounterBits, f.SizeBytes())
	p.Buckets = 1000 // not a power of two
	_, err = counting.NewDLeft(p)
	fmt.Println(err)
	// Output:
	// 4 512 8 24 2 53248
	// counting: bad parameters: Buckets is 1000, want a power of two
}
