package sim_test

import (
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// slowLines gives all peers lines of 256 kbit/s: a packet takes 47 ms, 50 KiB take 1.6 s.
func slowLines(strategy.ID) (up, down uint64) { return 256_000, 256_000 }

// sends has peers send messages a second after the start, when links are open, and hands over what others receive.
func sends(what func(h strategy.Host), got func(at strategy.ID, now time.Duration, m strategy.Message)) strategy.Strategy {
	return script(func(h strategy.Host, _ int, now time.Duration, in strategy.Input) {
		switch in := in.(type) {
		case strategy.Joined:
			h.Wake(now + time.Second)
		case strategy.Woken:
			what(h)
		case strategy.Received:
			got(h.Self(), now, in.Message)
		}
	})
}

// A question takes turns with what else a line carries: with 50 KiB for the same peer in another stream, with 50 KiB
// for another peer, and with what others send to the receiver.
func TestStreamsShareALine(t *testing.T) {
	const large = 50 << 10
	data := simtest.Clusters(t, 3, 4)
	for name, what := range map[string]func(h strategy.Host){
		"same receiver": func(h strategy.Host) {
			if h.Self() == 0 {
				h.Send(1, strategy.Message{Body: "filter", Bytes: large})
				h.Send(1, strategy.Message{Body: "question", Bytes: 60, Query: 1})
			}
		},
		"other receiver": func(h strategy.Host) {
			if h.Self() == 0 {
				h.Send(2, strategy.Message{Body: "filter", Bytes: large})
				h.Send(1, strategy.Message{Body: "question", Bytes: 60})
			}
		},
		"other sender": func(h strategy.Host) {
			switch h.Self() {
			case 2:
				h.Send(1, strategy.Message{Body: "filter", Bytes: large})
			case 0:
				h.Send(1, strategy.Message{Body: "question", Bytes: 60})
			}
		},
	} {
		came := map[string]time.Duration{}
		s := sends(what, func(_ strategy.ID, now time.Duration, m strategy.Message) { came[m.Body.(string)] = now - time.Second })
		play(t, sim.Config{Strategy: s, Data: data, Rates: slowLines, Topology: sim.Topology{Degree: 8}}, nil)
		if q := came["question"]; q == 0 || q > 700*time.Millisecond {
			t.Errorf("%s: the question comes after %v", name, q)
		}
		if f := came["filter"]; f < 1600*time.Millisecond || f > 2600*time.Millisecond {
			t.Errorf("%s: the filter comes after %v, it takes 1.6s", name, f)
		}
	}
}

// Two messages of the same size for two peers share a line: both take twice their time, whichever was sent first.
func TestLargeMessagesShareALine(t *testing.T) {
	came := map[strategy.ID]time.Duration{}
	s := sends(func(h strategy.Host) {
		if h.Self() == 0 {
			h.Send(1, strategy.Message{Bytes: 64_000})
			h.Send(2, strategy.Message{Bytes: 64_000})
		}
	}, func(at strategy.ID, now time.Duration, _ strategy.Message) { came[at] = now - time.Second })
	play(t, sim.Config{Strategy: s, Rates: slowLines}, nil)
	for p, took := range came {
		if took < 3900*time.Millisecond || took > 4700*time.Millisecond {
			t.Errorf("peer %d has its message after %v, want 4 s and a handshake", p, took)
		}
	}
	if len(came) != 2 {
		t.Errorf("%d messages came", len(came))
	}
}

// Loss is of packets: a message of a hundred packets is late by a retransmission more often than one of a packet.
func TestLossOfPackets(t *testing.T) {
	const loss, runs = 0.02, 40
	late := func(bytes int) (n int) {
		for seed := range uint64(runs) {
			var took time.Duration
			s := sends(func(h strategy.Host) {
				if h.Self() == 0 {
					h.Send(1, strategy.Message{Bytes: bytes})
				}
			}, func(_ strategy.ID, now time.Duration, _ strategy.Message) { took = now - time.Second })
			with := func(loss float64) time.Duration {
				play(t, sim.Config{Strategy: s, Data: simtest.Clusters(t, 2, 4), Seed: seed, Loss: loss}, nil)
				return took
			}
			if clean := with(0); with(loss) > clean {
				n++
			}
		}
		return n
	}
	// The last packets of 100 wait for a lost one where at most 166 packets, 200 ms, are behind it: 1-.98^100 = .87.
	if one, hundred := late(1000), late(150_000); one > runs/8 || hundred < runs*3/4 {
		t.Errorf("of %d messages %d of one packet and %d of a hundred are late", runs, one, hundred)
	}
}
