package threats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/routing/routinglab"
)

// weather has harms that networks do to peers without anybody's intent.
var weather = []attack{
	{
		name: "half of the peers are cut off for ten minutes", measured: "share of 200 keys found in the 15th second after they are back",
		target: atLeast(0.99), defence: "who does not answer rests for four seconds",
		run: limited(partition, routing.Limits{Rest: time.Hour}),
	},
	{
		name: "peers come and go, each session 1.4 min in the median", measured: "ms that finds take, on average of 600",
		target: atMost(400), defence: "failures are remembered",
		run: limited(churn, routing.Limits{Forgive: -1}),
	},
}

// hundred returns a place in which the searcher knows a hundred peers. Each key has the given number of holders
// among them.
func hundred(limits routing.Limits, keys, holders int) (p *routinglab.Net, peers []wire.PeerID) {
	p, all := knowing(routing.Config{Limits: limits}, 100)
	for _, n := range all {
		peers = append(peers, n.ID)
	}
	rng := rand.New(rand.NewPCG(2, 2))
	for k := range keys {
		for _, i := range rng.Perm(len(peers))[:holders] {
			p.Peer(peers[i]).Holds[fmt.Sprint("key ", k)] = true
		}
	}
	return p, peers
}

// partition returns the share of the keys found in the fifteenth second after their holders are back. Each key is
// looked for every ten seconds while half of the peers are cut off, and every second from then on.
func partition(limits routing.Limits) float64 {
	p, peers := hundred(limits, 200, 1)
	cut := func(mute bool) {
		for _, x := range peers[:50] {
			p.Peer(x).Mute = mute
		}
	}
	round := func(length time.Duration) (found int) {
		done := len(p.Peer("a").Done)
		for k := range 200 {
			p.Ask("a", fmt.Sprint("key ", k), wire.Any)
		}
		p.RunUntil(p.Now() + length)
		for _, d := range p.Peer("a").Done[done:] {
			found += min(1, d.Stats.Found)
		}
		return found
	}
	cut(true)
	for range 60 {
		round(10 * time.Second)
	}
	cut(false)
	found := 0
	for range 15 {
		found = round(time.Second)
	}
	return float64(found) / 200
}

// churn returns the mean time of finds in milliseconds. A key is looked for each second. A find counts if a holder
// is online.
func churn(limits routing.Limits) float64 {
	const (
		median  = 84.0 // median seconds for which a peer stays, and for which it is away
		popular = 10   // few keys, so that their holders are asked again and again
	)
	p, peers := hundred(limits, popular, 6)
	rng := rand.New(rand.NewPCG(3, 3))
	for i, x := range peers {
		p.Peer(x).Mute = i%2 == 0
	}
	var took []float64
	missed := 0
	for i := range 600 {
		for _, x := range peers {
			if rng.Float64() < 1-math.Exp2(-1/median) {
				p.Peer(x).Mute = !p.Peer(x).Mute
			}
		}
		key := fmt.Sprint("key ", i%popular)
		alive := slices.ContainsFunc(peers, func(x wire.PeerID) bool { return p.Peer(x).Holds[key] && !p.Peer(x).Mute })
		s := p.Find("a", key)
		if alive && s.Found == 0 {
			missed++
		}
		if alive {
			took = append(took, float64(s.Elapsed.Milliseconds()))
		}
		p.RunUntil(p.Now() + time.Second)
	}
	if missed > len(took)/20 {
		check(fmt.Errorf("%d of %d finds in vain", missed, len(took)))
	}
	sum := 0.0
	for _, ms := range took {
		sum += ms
	}
	return sum / float64(len(took))
}
