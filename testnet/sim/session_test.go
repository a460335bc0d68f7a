package sim_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// script is a strategy whose peers all do what step says. A peer's life counts its sessions from 1.
func script(step func(h strategy.Host, life int, now time.Duration, in strategy.Input)) strategy.Strategy {
	return strategy.Strategy{Name: "script", Connects: true, Open: func(w strategy.World) (strategy.Factory, error) {
		lives := make([]int, w.Peers)
		return func(h strategy.Host) strategy.Peer {
			lives[h.Self()]++
			life := lives[h.Self()]
			return stepper(func(now time.Duration, in strategy.Input) { step(h, life, now, in) })
		}, nil
	}}
}

// seeing has a strategy show the world of its run.
func seeing(s strategy.Strategy, world *strategy.World) strategy.Strategy {
	open := s.Open
	s.Open = func(w strategy.World) (strategy.Factory, error) {
		*world = w
		return open(w)
	}
	return s
}

// play runs a script for half a minute, for three peers if nothing else is said. prepare may say who leaves when.
func play(t *testing.T, cfg sim.Config, prepare func(*sim.Sim)) {
	t.Helper()
	cfg.Asking, cfg.Patience = 20*time.Second, 10*time.Second
	if cfg.Data == nil {
		cfg.Data = simtest.Clusters(t, 3, 4)
	}
	s, err := sim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if prepare != nil {
		prepare(s)
	}
	if _, err := s.Run(); err != nil {
		t.Fatal(err)
	}
}

// TestConnectionsKept: a peer keeps 96 connections beside its links, however many peers it writes to.
func TestConnectionsKept(t *testing.T) {
	most := 0
	s := script(func(h strategy.Host, _ int, now time.Duration, in strategy.Input) {
		switch in.(type) {
		case strategy.Joined:
			h.Wake(now + time.Second)
		case strategy.Woken:
			if h.Self() == 0 {
				for p := range strategy.ID(120) {
					if p > 0 {
						h.Send(p, strategy.Message{Bytes: 100})
					}
				}
				most = sim.Kept(h)
			}
		}
	})
	play(t, sim.Config{Strategy: s, Data: simtest.Clusters(t, 120, 4)}, nil)
	if most != 96 {
		t.Errorf("%d connections are kept", most)
	}
}

// A peer that restarts hears nothing of what its earlier session sent: neither that it couldn't be delivered nor an
// answer.
func TestNothingReachesALaterSession(t *testing.T) {
	type question struct{ life int }
	type answer struct{ life int }
	answered := 0
	s := script(func(h strategy.Host, life int, now time.Duration, in strategy.Input) {
		switch in := in.(type) {
		case strategy.Joined:
			h.Wake(now + time.Second)
		case strategy.Woken:
			if h.Self() == 0 {
				h.Send(1, strategy.Message{Body: question{life}, Bytes: 100})
				h.Send(2, strategy.Message{Body: question{life}, Bytes: 100}) // which isn't there
				h.Connect(2)
			}
		case strategy.Received:
			switch b := in.Message.Body.(type) {
			case question:
				h.Send(in.From, strategy.Message{Body: answer(b), Bytes: 1_250_000}) // takes a second on the line
			case answer:
				answered++
				if h.Self() == 0 && b.life != life {
					t.Errorf("session %d gets the answer to session %d", life, b.life)
				}
			}
		case strategy.Failed:
			if b, ok := in.Message.Body.(question); ok && b.life != life {
				t.Errorf("session %d hears of what session %d sent", life, b.life)
			}
			if in.Message.Body == nil && life == 2 && now < 6*time.Second {
				t.Errorf("session 2 hears at %v that a link of session 1 could not be opened", now)
			}
		}
	})
	play(t, sim.Config{Strategy: s}, func(s *sim.Sim) {
		s.Away(2, 500*time.Millisecond, 0)
		s.Away(0, 2*time.Second, 3*time.Second)
	})
	if answered != 1 {
		t.Errorf("%d answers, want the one to the second session", answered)
	}
}

// What is still waiting for the line 200 ms after a peer has left is never sent.
func TestNothingIsSentAfterLeaving(t *testing.T) {
	received := 0
	s := script(func(h strategy.Host, _ int, now time.Duration, in strategy.Input) {
		switch in := in.(type) {
		case strategy.Joined:
			h.Wake(now + time.Second)
		case strategy.Woken:
			for range 10 {
				if h.Self() == 0 {
					h.Send(1, strategy.Message{Body: now, Bytes: 1_250_000}) // a second each
				}
			}
		case strategy.Received:
			if h.Self() == 1 {
				received++
				if sent := now - time.Second; sent > 3*time.Second {
					t.Errorf("a message of a peer that left at 3.7 s comes at %v", now)
				}
			}
			_ = in
		}
	})
	play(t, sim.Config{Strategy: s}, func(s *sim.Sim) { s.Away(0, 3700*time.Millisecond, 0) })
	if received != 2 {
		t.Errorf("%d messages received, want 2", received)
	}
}

// Messages to one peer come in the order in which they were sent, also those behind a handshake or a retransmission.
// None comes before its last byte can be there: nobody is connected to peer 0, whose number is the zero value, before
// having connected to it.
func TestOrderOfAStream(t *testing.T) {
	const messages, last = 200, 39
	for name, c := range map[string]struct {
		from strategy.ID
		loss float64
	}{"handshake": {0, 0}, "loss": {0, 0.3}, "to peer 0": {last, 0}} {
		var got []int
		var first time.Duration
		var world strategy.World
		to := last - c.from
		s := script(func(h strategy.Host, _ int, now time.Duration, in strategy.Input) {
			switch in := in.(type) {
			case strategy.Joined:
				h.Wake(now + time.Second)
			case strategy.Woken:
				if h.Self() != c.from {
					return
				}
				if slices.Contains(h.Links(), to) {
					t.Errorf("%s: a link from the start", name)
				}
				for i := range messages {
					h.Send(to, strategy.Message{Body: i, Bytes: 100})
				}
			case strategy.Received:
				if len(got) == 0 {
					first = now
				}
				got = append(got, in.Message.Body.(int))
			}
		})
		s = seeing(s, &world)
		play(t, sim.Config{Strategy: s, Loss: c.loss, Data: simtest.Clusters(t, last+1, 4)}, nil)
		if !slices.IsSorted(got) || len(got) != messages {
			t.Errorf("%s: order %v", name, got)
		}
		if least := time.Second + 5*world.Latency(c.from, to); first < least {
			t.Errorf("%s: the first message comes at %v, before a handshake and its way, %v", name, first, least)
		}
	}
}

// A message is there when its last byte is, to the nanosecond: not at the beginning of the line's work.
func TestArrivalIsExact(t *testing.T) {
	type sent struct{ at time.Duration }
	var world strategy.World
	checked := 0
	s := script(func(h strategy.Host, _ int, now time.Duration, in strategy.Input) {
		switch in := in.(type) {
		case strategy.LinkOpened:
			if h.Self() == 0 && in.Peer == 1 {
				h.Send(1, strategy.Message{Body: sent{now}, Bytes: 6250}) // 5 ms, the first packet 1.2 ms
			}
		case strategy.Received:
			checked++
			want := in.Message.Body.(sent).at + 6200*time.Microsecond + world.Latency(0, h.Self())
			if off := now - want; off < -time.Microsecond || off > time.Microsecond {
				t.Errorf("a message is %v off", off)
			}
		case strategy.Joined:
			h.Wake(now + time.Second)
		case strategy.Woken:
			if h.Self() == 0 {
				h.Connect(1)
			}
		}
	})
	s = seeing(s, &world)
	play(t, sim.Config{Strategy: s, Topology: sim.Topology{Degree: 1}}, nil)
	if checked == 0 {
		t.Error("no message was received")
	}
}

// A panic in a peer, here on another processor, ends its own run only, and the error says which run it was.
func TestPanicNamesTheRun(t *testing.T) {
	s := script(func(_ strategy.Host, _ int, now time.Duration, _ strategy.Input) {
		if now > time.Second {
			panic("a fault of the strategy")
		}
	})
	calls := 0
	each := func(n int, do func(int)) {
		calls++
		parallel(n, do)
	}
	r, err := sim.New(simtest.Draw(sim.Config{Strategy: s, Data: simtest.Clusters(t, 40, 4), Seed: 42, Each: each}, 10))
	if err != nil {
		t.Fatal(err)
	}
	r.AlwaysEach()
	_, err = r.Run()
	if calls == 0 {
		t.Error("no other processor was asked")
	}
	if !errors.Is(err, sim.ErrPanic) {
		t.Fatalf("error %v, want ErrPanic", err)
	}
	for _, want := range []string{"script", "seed 42", "peer ", "a fault of the strategy", "session_test.go"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q: %v", want, err)
		}
	}
}

// An event for a peer that there is not ends the run, on one processor and on several.
func TestStrayEvent(t *testing.T) {
	const peers = 40
	for _, to := range []strategy.ID{peers, 63, 64, 1 << 12, 1 << 20} {
		for name, each := range map[string]func(int, func(int)){"one": nil, "several": parallel} {
			s := script(func(h strategy.Host, _ int, now time.Duration, in strategy.Input) {
				switch in.(type) {
				case strategy.Joined:
					h.Wake(now + time.Second)
				case strategy.Woken:
					if h.Self() == 0 {
						sim.Stray(h, to)
					}
				}
			})
			r, err := sim.New(sim.Config{Strategy: s, Data: simtest.Clusters(t, peers, 4), Each: each})
			if err != nil {
				t.Fatal(err)
			}
			r.AlwaysEach()
			if _, err := r.Run(); !errors.Is(err, sim.ErrPanic) || !strings.Contains(err.Error(), "peer 0 at 1s") {
				t.Errorf("%s processor, to %d: error %v, want ErrPanic of peer 0", name, to, err)
			}
		}
	}
}

// Who connects pays for it, once, and so does the other end; a peer that isn't there costs nothing.
func TestConnectingCosts(t *testing.T) {
	s := script(func(h strategy.Host, _ int, now time.Duration, in strategy.Input) {
		to := strategy.ID(1)
		for slices.Contains(h.Links(), to) {
			to++
		}
		switch in.(type) {
		case strategy.Joined:
			h.Wake(now + 2*time.Second)
		case strategy.Woken:
			if h.Self() == 0 {
				h.Send(to, strategy.Message{Body: now, Bytes: 100})
				h.Send(to, strategy.Message{Body: now, Bytes: 100})
				h.Send(39, strategy.Message{Body: now, Bytes: 100})
			}
		}
	})
	cfg := sim.Config{Strategy: s, Data: simtest.Clusters(t, 40, 4), Topology: sim.Topology{}, Asking: time.Second, Patience: 20 * time.Second}
	n, err := sim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	n.Away(39, time.Second, 0)
	r, err := n.Run()
	if err != nil {
		t.Fatal(err)
	}
	links := len(sim.Topology{Degree: 4}.Edges(40, n.Linking()))
	if got, want := r.Connect*40, float64(2*sim.HandshakeBytes*(links+1)); got < want || got > want+10*sim.HandshakeBytes { // some replace links to 39
		t.Errorf("%v bytes to connect, want %v and those for the links to peer 39", got, want)
	}
	if sent := (simtest.Of(r).Upkeep - r.Connect) * 40; sent < 299 || sent > 301 {
		t.Errorf("%v bytes besides, want 300", sent)
	}
}

// A peer that is there at the start while all its links in the topology are away learns of others that are there.
func TestNobodyBeginsAlone(t *testing.T) {
	const peers, there = 20, 6
	linked := make([]bool, peers)
	s := script(func(h strategy.Host, _ int, _ time.Duration, in strategy.Input) {
		if _, is := in.(strategy.LinkOpened); is {
			linked[h.Self()] = true
		}
	})
	var moves []sim.Move
	for p := range strategy.ID(peers - there) {
		moves = append(moves, sim.Move{Peer: p})
	}
	play(t, sim.Config{Strategy: s, Data: simtest.Clusters(t, peers, 4), Script: sim.Script{Moves: moves}}, nil)
	for p := peers - there; p < peers; p++ {
		if !linked[p] {
			t.Errorf("peer %d never had a link", p)
		}
	}
}
