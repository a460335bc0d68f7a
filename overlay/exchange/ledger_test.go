package exchange

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/summary"
)

// The slow twin of a ledger is a map.
func TestLedger(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	var l ledger
	plain := map[int]trade{}
	for range 5000 {
		i := rng.IntN(300)
		switch rng.IntN(5) {
		case 0:
			l.forget(i)
			delete(plain, i)
		case 1:
			l.renewed(i)
			if p, ok := plain[i]; ok {
				p.toldHave = 0
				plain[i] = p
			}
		case 2:
			have, now := 1+rng.IntN(9), time.Duration(rng.IntN(1000))*time.Second
			l.at(i).tells(have, now)
			p := plain[i]
			p.toldHave, p.toldAt = uint16(have), stampOf(now)
			plain[i] = p
		default:
			e, have := summary.Epoch{Generation: 1, Sequence: uint32(rng.IntN(3))}, uint16(rng.IntN(9))
			p := plain[i]
			more := e.After(p.theirs) || e == p.theirs && have > p.have
			if more {
				p.theirs, p.have = e, have
			}
			plain[i] = p
			if got := l.at(i).claims(e, have); got != more {
				t.Fatalf("claims: %v, want %v", got, more)
			}
		}
		if at := rng.IntN(400); l.known(at) != plain[at] {
			t.Fatalf("index %d: %+v, want %+v", at, l.known(at), plain[at])
		}
	}
}

func TestStamp(t *testing.T) {
	const round = time.Duration(1<<32) * stampUnit
	for _, now := range []time.Duration{0, time.Hour, round - time.Second, 3*round + time.Minute} {
		s := stampOf(now)
		for _, later := range []time.Duration{0, stampUnit, 8 * time.Second, 400 * 24 * time.Hour} {
			if got := s.since(now + later); got != later {
				t.Errorf("%v after %v: %v", later, now, got)
			}
		}
	}
}
