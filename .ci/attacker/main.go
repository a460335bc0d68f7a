// Attacker attacks a daemon with many identities, and measures what honest users keep. See .ci/attack, which runs it.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

var (
	identities = flag.Int("identities", 64, "attackers")
	half       = flag.Duration("half", 4*time.Second, "half the `time` of an attack")
	procs      = flag.String("procs", "2", "processors of the daemon")
	byQUIC     = flag.Bool("quic", false, "attackers and users dial by QUIC; the half-open stay on TCP")
	detail     = flag.Bool("v", false, "print errors, and what the daemon refused")
)

func main() {
	flag.Parse()
	log.SetFlags(0)
	if flag.NArg() == 0 {
		log.Fatal("usage: .ci/attack [FLAGS] BINARY ROW...")
	}
	rows := flag.Args()[1:]
	if len(rows) == 0 {
		rows = []string{"fleeting:far", "query:far", "half:far"}
	}
	for _, row := range rows {
		run(flag.Arg(0), row)
	}
}

// user is a kind of honest user. It asks at a steady rate, each question in its own time.
type user struct {
	name  string
	every time.Duration
	ask   func(ctx context.Context, i int) error
}

// run attacks a daemon once, and prints the figures.
func run(venn, row string) {
	behaviour, spread, _ := strings.Cut(row, ":")
	if behaviours[behaviour] == nil && behaviour != "mixed" || (&attacker{spread: spread}).address(0) == "" {
		log.Fatalf("there is no row %s", row)
	}
	v := start(venn, "20.0.0.1", *procs)
	defer v.stop()
	f := start(venn, "20.1.0.1", "2", "--bootstrap", fmt.Sprintf("/ip4/20.0.0.1/tcp/4101/p2p/%s", v.id))
	defer f.stop()
	v.add("v")
	f.add("f")
	ctx, cancel := context.WithCancel(context.Background())
	eventually("the daemons find each other's keys", func() bool {
		return f.find(ctx, key("v", 1)) == nil && v.find(ctx, key("f", 1)) == nil
	})
	var phase atomic.Int32
	var wg sync.WaitGroup
	users := honest(ctx, v, f)
	tallies := make([]*tally, len(users))
	for i, u := range users {
		tallies[i] = &tally{phase: &phase}
		wg.Go(func() { u.use(ctx, tallies[i]) })
	}
	during := func(p int32, d time.Duration) {
		phase.Store(p)
		time.Sleep(d)
	}
	during(before, *half/2)
	during(quiet, *half)
	memory, counted := v.memory(), v.counters()
	attack, end := context.WithCancel(ctx)
	bad := &tally{phase: &phase}
	for i := range *identities {
		a := &attacker{on: v, spread: spread, i: i, of: *identities}
		wg.Go(func() { a.misbehave(attack, behaviour, bad) })
	}
	during(first, *half)
	during(second, *half)
	memory = v.memory() - memory
	now := v.counters()
	end()
	during(ending, *half/2)
	during(after, *half)
	cancel()
	wg.Wait()
	done := len(bad.took[first]) + len(bad.took[second])
	fmt.Printf("%-14s attackers did %d of %d; memory %+d MB; processors %.1f s\n", row,
		done, bad.asked[first]+bad.asked[second], memory, now[processors]-counted[processors])
	for i, u := range users {
		tallies[i].print(u.name, *detail)
	}
	if *detail {
		bad.print("attackers", true)
		for name, n := range now {
			if d := n - counted[name]; d > 0 {
				fmt.Printf("  %s %+g\n", name, d)
			}
		}
	}
}

// honest returns the users of a daemon and of one that is linked with it.
func honest(ctx context.Context, v, linked *daemon) []user {
	const ms = time.Millisecond
	stranger := must(v.dial(ctx, newIdentity("30.1.0.1")))
	searcher := must(v.dial(ctx, newIdentity("30.2.0.1")))
	once := func(ctx context.Context, who identity, i int) error {
		c, err := v.dial(ctx, who)
		if err != nil {
			return err
		}
		defer c.Close()
		return c.has(ctx, key("v", i))
	}
	var same []identity // libp2p takes an address's 16 connections, and then one in 5 s
	for i := range 5 {
		same = append(same, newIdentity(fmt.Sprintf("30.3.0.%d", 1+i)))
	}
	return []user{
		{"link", 50 * ms, func(ctx context.Context, i int) error { return linked.find(ctx, key("v", i)) }},
		{"own", 50 * ms, func(ctx context.Context, i int) error { return v.find(ctx, key("f", i)) }},
		{"stranger", 100 * ms, func(ctx context.Context, i int) error { return stranger.has(ctx, key("v", i)) }},
		{"search", 200 * ms, func(ctx context.Context, i int) error { return searcher.search(ctx, key("f", i), 64) }},
		{"newcomer", 300 * ms, func(ctx context.Context, i int) error {
			return once(ctx, newIdentity(fmt.Sprintf("31.%d.0.1", i%250)), i)
		}},
		{"renewed", 300 * ms, func(ctx context.Context, i int) error { return once(ctx, same[i%5], i) }},
	}
}

// use asks until ctx ends, and waits for the answers.
func (u user) use(ctx context.Context, t *tally) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := 0; ctx.Err() == nil; i++ {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			_ = t.note(func() error { return u.ask(ctx, i) })
		})
		pause(ctx, u.every)
	}
}
