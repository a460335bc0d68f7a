package exchange

import (
	"math/rand/v2"
	"testing"
	"time"
	"unsafe"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// plainTrade is a trade whose fields are apart.
type plainTrade struct {
	theirs         summary.Epoch
	have, toldHave uint16
	bases          wire.Bases
	blamed         bool
	toldAt         time.Duration
}

// The slow twin of a ledger is a map.
func TestLedger(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	var l ledger
	plain := map[int]plainTrade{}
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
			p.bases, p.blamed = wire.Bases(rng.IntN(1+int(wire.MaxBases))), rng.IntN(2) == 0
			l.at(i).setBases(p.bases)
			l.at(i).setBlamed(p.blamed)
			plain[i] = p
		default:
			e, have := summary.Epoch{Generation: 1, Sequence: uint32(rng.IntN(3))}, uint16(rng.IntN(9))
			more := e.After(p.theirs) || e == p.theirs && have > p.have
			if e.After(p.theirs) {
				p.bases = 0
			}
			if more {
				p.theirs, p.have = e, have
			}
			plain[i] = p
			if got := l.at(i).claims(e, have); got != more {
				t.Fatalf("claims: %v, want %v", got, more)
			}
		}
		at := rng.IntN(700)
		k, want := l.known(at), plain[at]
		now := 2000 * time.Second
		if got := (plainTrade{k.theirs, k.have, k.toldHave, k.bases(), k.blamed(), now - k.sinceTold(now)}); got != want {
			t.Fatalf("index %d: %+v, want %+v", at, got, want)
		}
	}
}

// TestLedgerIsSmall: a ledger has room for little more than its trades, also after most of them were forgotten.
func TestLedgerIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(trade{}); n != 16 {
		t.Errorf("a trade takes %d bytes", n)
	}
	if n := unsafe.Sizeof(page{}); n != 64 {
		t.Errorf("a page takes %d bytes", n)
	}
	var l ledger
	for i := range 200 {
		l.at(i)
	}
	if n := cap(l[0].trades); len(l) != 1 || n > 240 {
		t.Errorf("%d pages, room for %d trades of 200", len(l), n)
	}
	for i := range 190 {
		l.forget(i)
	}
	if n := cap(l[0].trades); n > 30 {
		t.Errorf("room for %d trades of 10", n)
	}
	for i := range 200 {
		l.forget(i)
	}
	if l[0].trades != nil {
		t.Error("there is room for trades where none are")
	}
}

func TestSinceTold(t *testing.T) {
	for _, now := range []time.Duration{0, time.Hour, stampRound - time.Second, 3*stampRound + time.Minute} {
		var told trade
		told.setBases(wire.MaxBases)
		told.setBlamed(true)
		told.tells(7, now)
		for _, later := range []time.Duration{0, stampUnit, 8 * time.Second, stampRound - stampUnit} {
			if got := told.sinceTold(now + later); got != later {
				t.Errorf("%v after %v: %v", later, now, got)
			}
		}
		if told.bases() != wire.MaxBases || !told.blamed() || told.toldHave != 7 {
			t.Errorf("told at %v: %+v", now, told)
		}
	}
}
