package sim_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// sides puts every other peer on the other side.
func sides(n int) []uint8 {
	out := make([]uint8, n)
	for i := range out {
		out[i] = uint8(i % 2)
	}
	return out
}

// asks has peers ask for keys of peers by turns, evenly spread.
func asks(d *sim.Data, n int, from, every time.Duration) (out []sim.Ask) {
	for i := range n {
		p, of := strategy.ID(i%d.Peers()), strategy.ID((7*i+3)%d.Peers())
		keys := slices.DeleteFunc(slices.Clone(d.Collection(of)), func(k uint32) bool { return d.Holds(p, k) })
		if len(keys) > 0 {
			out = append(out, sim.Ask{At: from + time.Duration(i)*every, Peer: p, Key: keys[i%len(keys)]})
		}
	}
	return out
}

// recallBetween is that of the queries begun from one instant to another.
func recallBetween(d *sim.Detail, from, to time.Duration) float64 {
	found, all := 0, 0
	for _, q := range d.Queries {
		if q.At >= from && q.At < to {
			found, all = found+q.Found, all+1
		}
	}
	return float64(found) / float64(max(1, all))
}

// While a network is cut in two, what only the other side holds is not found; when the cut is healed, it is again. A strategy that
// chooses its links has to find its way back by itself.
func TestCut(t *testing.T) {
	data := clusters(t, 60, 60)
	for _, s := range []strategy.Strategy{strategy.Flooding, strategy.Venn, strategy.Kademlia} {
		r := run(t, sim.Config{
			Strategy: s, Data: data, Warmup: 30 * time.Second, Asking: 230 * time.Second, Detail: true, Script: sim.Script{
				Asks: asks(data, 900, 30*time.Second, 250*time.Millisecond),
				Cuts: []sim.Cut{{From: 80 * time.Second, To: 140 * time.Second, Side: sides(60)}},
			},
		})
		before, cut := recallBetween(r.Detail, 0, 75*time.Second), recallBetween(r.Detail, 85*time.Second, 135*time.Second)
		after := recallBetween(r.Detail, 200*time.Second, time.Hour)
		t.Logf("%s: recall %.3f, %.3f in the cut, %.3f a minute after", s.Name, before, cut, after)
		if before < 0.95 || cut > before-0.05 || after < 0.95 {
			t.Errorf("%s: recall %.3f, %.3f in the cut, %.3f a minute after", s.Name, before, cut, after)
		}
	}
}

// A key that a peer takes in is found there, and one that it drops is not any more.
func TestChanges(t *testing.T) {
	data := clusters(t, 40, 60)
	var script sim.Script
	const taken, dropped = 30 * time.Second, 100 * time.Second
	key := data.Collection(1)[0]
	for _, p := range data.Holders(key) {
		script.Changes = append(script.Changes, sim.Change{At: time.Second, Peer: p, Key: key})
	}
	script.Changes = append(script.Changes, sim.Change{At: taken, Peer: 5, Key: key, Held: true}, sim.Change{At: dropped, Peer: 5, Key: key})
	for _, at := range []time.Duration{20 * time.Second, 90 * time.Second, 150 * time.Second} {
		script.Asks = append(script.Asks, sim.Ask{At: at, Peer: 2, Key: key})
	}
	for _, s := range []strategy.Strategy{strategy.Flooding, strategy.Oracle, strategy.Venn} {
		r := run(t, sim.Config{Strategy: s, Data: data, Asking: 160 * time.Second, Detail: true, Script: script})
		q := r.Detail.Queries
		if q[0].Findable != 0 || q[1].Findable != 1 || q[2].Findable != 0 || q[1].Found != 1 || q[2].Found != 0 {
			t.Errorf("%s: %+v", s.Name, q)
		}
	}
}

// A line that becomes slow makes what goes over it late.
func TestRates(t *testing.T) {
	data := clusters(t, 30, 60)
	latency := func(script sim.Script) time.Duration {
		script.Asks = asks(data, 200, 10*time.Second, 100*time.Millisecond)
		return run(t, sim.Config{Strategy: strategy.Oracle, Data: data, Asking: time.Minute, Script: script}).LatencyP50
	}
	var slow sim.Script
	for p := range strategy.ID(30) {
		slow.Rates = append(slow.Rates, sim.Rate{At: time.Second, Peer: p, Up: 8000, Down: 8000})
	}
	if fast, late := latency(sim.Script{}), latency(slow); late < 2*fast {
		t.Errorf("%v over slow lines, %v over fast ones", late, fast)
	}
}

// What is seen in detail adds up to what the report says.
func TestDetail(t *testing.T) {
	r := run(t, sim.Config{Strategy: strategy.Venn, Data: clusters(t, 40, 60), Queries: 100, Detail: true})
	var upkeep, kinds, messages, bytes int64
	for _, s := range r.Detail.Seconds {
		upkeep += s.Upkeep
	}
	for _, k := range r.Detail.Upkeep {
		kinds += k.Bytes
	}
	for _, q := range r.Detail.Queries {
		messages, bytes = messages+int64(q.Messages), bytes+int64(q.Bytes)
	}
	if want := int64(r.UpkeepBytesPerPeer*40 + 0.5); upkeep != want || kinds != want {
		t.Errorf("upkeep %d by second, %d by kind, want %d", upkeep, kinds, want)
	}
	if float64(messages)/100 != r.MessagesPerQuery || float64(bytes)/100 != r.QueryBytes {
		t.Errorf("%d messages and %d bytes of queries: %+v", messages, bytes, r)
	}
}

func TestBadScript(t *testing.T) {
	for name, s := range map[string]sim.Script{
		"order": {Moves: []sim.Move{{At: 2}, {At: 1}}}, "peer": {Asks: []sim.Ask{{Peer: 10}}}, "key": {Changes: []sim.Change{{Key: 1 << 30}}},
		"rate": {Rates: []sim.Rate{{}}}, "sides": {Cuts: []sim.Cut{{Side: sides(3)}}}, "end": {Cuts: []sim.Cut{{From: 2, To: 1, Side: sides(10)}}},
	} {
		if _, err := sim.New(sim.Config{Strategy: strategy.Oracle, Data: clusters(t, 10, 10), Script: s}); !errors.Is(err, sim.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A key that a peer has taken in is found within two seconds, and no epoch is made for it: tails tell of it. The version before, which
// knows no tails, makes epochs.
func TestTails(t *testing.T) {
	data := clusters(t, 40, 60)
	before := strategy.Venn
	before.Name, before.Open = "venn without tails", func(w strategy.World) (strategy.Factory, error) {
		made, err := strategy.Venn.Open(w)
		return func(h strategy.Host) strategy.Peer { return strategy.Venn.Older(made(h)) }, err
	}
	script := sim.Script{}
	for i := range 30 {
		at, p := 60*time.Second+time.Duration(i)*time.Second, strategy.ID(i)
		key := uint32(i * data.Keys() / 30)
		for _, h := range data.Holders(key) { // it is new to all
			script.Changes = append(script.Changes, sim.Change{Peer: h, Key: key})
		}
		script.Changes = append(script.Changes, sim.Change{At: at, Peer: 39, Key: key, Held: true})
		script.Asks = append(script.Asks, sim.Ask{At: at + 2*time.Second, Peer: p, Key: key})
	}
	slices.SortStableFunc(script.Changes, func(a, b sim.Change) int { return int(a.At - b.At) })
	recall, parts := map[string]float64{}, map[string]int64{}
	for _, s := range []strategy.Strategy{strategy.Venn, before} {
		r := run(t, sim.Config{Strategy: s, Data: data, Asking: 60 * time.Second, Warmup: 40 * time.Second, Patience: time.Second, Detail: true, Script: script})
		recall[s.Name] = recallBetween(r.Detail, 0, time.Hour)
		said := false
		for _, k := range r.Detail.Upkeep {
			said = said || k.Name == "venntails"
			if k.Name == "vennparts" {
				parts[s.Name] = k.Messages
			}
		}
		if said != (s.Name == strategy.Venn.Name) {
			t.Errorf("%s: tails: %v", s.Name, said)
		}
	}
	t.Logf("recall %v, messages with parts of epochs %v", recall, parts)
	if recall["venn"] < 0.95 || parts["venn"] > parts[before.Name]*9/10 {
		t.Errorf("recall %v, messages with parts of epochs %v", recall, parts)
	}
}

// Who is told that a peer leaves does not ask it any more. A peer that is killed says nothing.
func TestGoodbye(t *testing.T) {
	data := clusters(t, 40, 60)
	bounced := map[bool]int{}
	for _, killed := range []bool{false, true} {
		script := sim.Script{Asks: asks(data, 400, 60500*time.Millisecond, 5*time.Millisecond)}
		for p := range strategy.ID(20) {
			script.Moves = append(script.Moves, sim.Move{At: 60 * time.Second, Peer: 2 * p, Killed: killed})
		}
		var trace bytes.Buffer
		r := run(t, sim.Config{
			Strategy: strategy.Venn, Data: data, Warmup: 60 * time.Second, Asking: 25 * time.Second, All: true, Script: script, Trace: &trace,
		})
		bounced[killed] = sim.Bounced(trace.Bytes())
		t.Logf("killed %v: recall %.3f, %.2f messages a query, %d not delivered", killed, r.Recall, r.MessagesPerQuery, bounced[killed])
	}
	if bounced[false]*4 > bounced[true]*3 {
		t.Errorf("%d messages of queries not delivered after goodbyes, %d without", bounced[false], bounced[true])
	}
}
