package threats

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/counting"
)

// byteAttacks are attacks with bytes that strangers send, and with keys that they craft.
var byteAttacks = []attack{
	{
		name: "a frame that claims 64 MiB", where: Values, measured: "bytes allocated for a hello that never comes", target: atMost(wire.MaxHello + 64<<10),
		defence: "limits before allocation",
		run:     either(claimedFrame, wire.MaxHello, 1<<30),
	},
	{
		name: "the worst header of 1 KiB", where: Values, measured: "bytes allocated for its plan", target: atMost(256 << 10),
		defence: "the plan is made in one pass, of bounded levels",
		run:     worstHeader,
	},
	{
		name: "junk for a summary that is held compact", where: Values, measured: "bytes allocated for a message of junk", target: atMost(64 << 10),
		defence: "what follows is verified before what is held is encoded",
		run:     junkRun,
	},
	{
		name: "keys crafted for one bucket in each subtable", where: Values, measured: "keys of 100 that the mirror refuses", target: atMost(0),
		defence: "the permutations of the d-left table are secret",
		run:     either(overflow, uint64(0x5ec4e7), 0),
	},
}

// allocated returns the number of bytes that f allocates.
func allocated(f func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc - before.TotalAlloc)
}

// claimedFrame returns the number of bytes that a reader allocates, under a limit, for a frame that claims 64 MiB
// and has no content.
func claimedFrame(limit int) float64 {
	return allocated(func() {
		if _, err := wire.ReadFrame(bytes.NewReader(binary.AppendUvarint(nil, 64<<20)), limit, nil); err == nil {
			check(errors.New("a frame without bytes is read"))
		}
	})
}

// worstHeader returns the number of bytes allocated to plan the most blocks, each of the greatest depth. The undefended
// plan is made again for each block that is added, so its cost grows with the square of their number.
func worstHeader(_ context.Context, defended bool) float64 {
	const n = 1 << 16
	const most = 64 // blocks
	levels := bytes.Repeat([]byte{summary.FingerprintBits}, most)
	first := most
	if !defended {
		first = 1
	}
	return allocated(func() {
		for blocks := first; blocks <= most; blocks++ {
			must(summary.NewPlan(n, summary.Shape{Keys: n, Levels: levels[:blocks]}))
		}
	})
}

// junkRun returns the number of bytes allocated for a message that extends a compact summary by junk. The undefended
// receiver first encodes the summary that it holds.
func junkRun(_ context.Context, defended bool) float64 {
	var held [][]byte
	for i := range uint64(100_000) {
		held = append(held, keyOf(i))
	}
	whole := summaryOf(held, summary.Seed{Network: "venn"})
	p := whole.Truncate(whole.Parts() - 1).Compact()
	rng := rand.New(rand.NewPCG(1, 1))
	junk := make([]byte, 1000)
	for i := range junk {
		junk[i] = byte(rng.Uint32())
	}
	return allocated(func() {
		if !defended {
			must(p.Run(0, p.Parts()))
		}
		if _, err := p.Extend(summary.Run{First: p.Parts(), Parts: [][]byte{junk}}); !errors.Is(err, summary.ErrChain) {
			check(fmt.Errorf("junk is answered by %w", err))
		}
	})
}

// overflow returns the number of 100 crafted keys that a table of fixed size, with the given seed, refuses. Under
// seed 0, the crafted keys all have the same bucket in each subtable.
func overflow(seed uint64) float64 {
	const bucketBits, remainderBits, subtables = 4, 20, 4
	table := must(counting.NewDLeft(counting.Params{
		Subtables: subtables, Buckets: 1 << bucketBits, Cells: 8, RemainderBits: remainderBits, CounterBits: 2, Seed: seed, Fixed: true,
	}))
	rng := rand.New(rand.NewPCG(0, 0x646c65667420)) // the generator from which counting.NewDLeft draws its permutations
	var multipliers [subtables]uint64
	for i := range multipliers {
		multipliers[i] = rng.Uint64() | 1
	}
	refused, crafted := 0, 0
	for f := uint64(1); crafted < 100; f++ {
		if f>>(bucketBits+remainderBits) > 0 {
			check(fmt.Errorf("only %d keys can be crafted", crafted))
		}
		buckets := uint64(0)
		for _, a := range multipliers {
			buckets |= f * a << (64 - bucketBits - remainderBits) >> (64 - bucketBits)
		}
		if buckets != 0 {
			continue
		}
		crafted++
		if err := table.Add(f); errors.Is(err, counting.ErrOverflow) {
			refused++
		} else {
			check(err)
		}
	}
	return float64(refused)
}
