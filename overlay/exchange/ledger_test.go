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
	for range 20_000 {
		i := rng.IntN(600)
		p := plain[i]
		switch rng.IntN(7) {
		case 0, 1:
			l.forget(i)
			delete(plain, i)
		case 2:
			l.renewed(i)
			if p, ok := plain[i]; ok {
				p.toldHave = 0
				plain[i] = p
			}
		case 3:
			have, now := 1+rng.IntN(9), time.Duration(rng.IntN(1000))*time.Second
			l.at(i).tells(have, now)
			p.toldHave, p.toldAt = uint16(have), now
			plain[i] = p
		case 4:
			plain[i] = p
		default:
			e, have := summary.Epoch{Generation: 1, Sequence: uint32(rng.IntN(3))}, uint16(rng.IntN(9))
			more := e.After(p.theirs) || e == p.theirs && have > p.have
			if more {
				p.theirs, p.have = e, have
			}
			plain[i] = p
			if got := l.at(i).claims(e, have); got != more {
				t.Fatalf("claims: %v, want %v", got, more)
			}
		}
		at := rng.IntN(700)
		if got, want := l.known(at), plain[at]; got != want {
			t.Fatalf("index %d: %+v, want %+v", at, got, want)
		}
	}
}
