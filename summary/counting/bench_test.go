package counting

import (
	"math/rand/v2"
	"testing"
)

const benchMembers = 786_432

// filled filters at the paper's load, with their members.
func filled(b *testing.B, f *DLeft) []uint64 {
	b.Helper()
	rng := rand.New(rand.NewPCG(17, 18))
	members := make([]uint64, benchMembers)
	for i := range members {
		members[i] = rng.Uint64()
		noErr(b, f.Add(members[i]))
	}
	return members
}

func benchForms(b *testing.B, run func(b *testing.B, f *DLeft, members []uint64)) {
	for name, p := range map[string]Params{"r14": paramsForRemainder(benchMembers, 14), "q48": ParamsForFingerprint(benchMembers, 48)} {
		b.Run(name, func(b *testing.B) {
			f := must(NewDLeft(p))
			run(b, f, filled(b, f))
		})
	}
}

func BenchmarkContainsMember(b *testing.B) {
	benchForms(b, func(b *testing.B, f *DLeft, members []uint64) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			f.Contains(members[i%benchMembers])
		}
	})
}

func BenchmarkContainsOther(b *testing.B) {
	benchForms(b, func(b *testing.B, f *DLeft, _ []uint64) {
		b.ReportAllocs()
		x := uint64(1)
		for b.Loop() {
			x *= 0x9e3779b97f4a7c15
			f.Contains(x)
		}
	})
}

// A step of the paper's simulation: one member out, another in.
func BenchmarkRemoveAdd(b *testing.B) {
	benchForms(b, func(b *testing.B, f *DLeft, members []uint64) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			x := &members[i%benchMembers]
			f.Remove(*x)
			*x += 0x9e3779b97f4a7c15
			_ = f.Add(*x)
		}
	})
}

func BenchmarkFingerprints(b *testing.B) {
	f := must(NewDLeft(ParamsForFingerprint(benchMembers, 48)))
	filled(b, f)
	b.ReportAllocs()
	b.SetBytes(benchMembers) // MB/s reads as million fingerprints a second
	var sum uint64
	for b.Loop() {
		for x := range f.All {
			sum += x
		}
	}
	_ = sum
}

func BenchmarkGrow(b *testing.B) {
	f := must(NewDLeft(ParamsForFingerprint(benchMembers, 48)))
	filled(b, f)
	b.ReportAllocs()
	for b.Loop() {
		g := *f
		noErr(b, g.grow())
	}
}

func BenchmarkBinary(b *testing.B) {
	benchForms(b, func(b *testing.B, f *DLeft, _ []uint64) {
		b.ReportAllocs()
		for b.Loop() {
			data, _ := f.MarshalBinary()
			noErr(b, f.UnmarshalBinary(data))
			b.ReportMetric(float64(8*len(data))/benchMembers, "bits/member")
		}
	})
}
