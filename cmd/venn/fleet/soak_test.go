package fleet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// TestSoak runs twenty daemons for VENN_SOAK minutes. Every few seconds one is killed with signal 9, the network parts
// in two halves that hear nothing of each other, a daemon stands still as on a machine that sleeps, or one ends and
// starts as the other version. The wall clocks of all daemons jump, as VENN_CLOCK says, which programs built
// by .ci/fleet obey. With VENN_CONTROL the programs lack a defence of freshness, and answers have to be late.
func TestSoak(t *testing.T) {
	programs := []string{binary(t, "VENN_NEW"), binary(t, "VENN_OLD")}
	minutes, err := strconv.ParseFloat(os.Getenv("VENN_SOAK"), 64)
	if err != nil {
		t.Skip("VENN_SOAK says for how many minutes: .ci/fleet sets it")
	}
	l := newLine(t)
	f := newFleet(t, programs[1], func(i int) ([]string, string) { return l.place(l.machine(i)), l.address(i) })
	defer f.endAll()
	rng := rand.New(rand.NewPCG(2, 2))
	versions := make([]int, size)
	clock := func() string { return fmt.Sprintf("VENN_CLOCK=%d", rng.Uint32()) }
	for _, p := range f.peers {
		p.start(programs[0], clock())
	}
	f.fill()
	f.meet()
	ctx, cancel := context.WithCancel(t.Context())
	wait := f.use(ctx)
	counts := make(map[string]int)
	between := func(least, most float64) {
		time.Sleep(time.Duration((least + rng.Float64()*(most-least)) * float64(time.Second)))
	}
	for end := time.Now().Add(time.Duration(minutes * float64(time.Minute))); time.Now().Before(end); {
		between(3, 12)
		p := f.peers[rng.IntN(size)]
		what := []string{"kill -9", "partition", "sleep", "upgrade"}[rng.IntN(4)]
		counts[what]++
		switch what {
		case "kill -9":
			p.end(syscall.SIGKILL)
			between(0, 8)
			p.start(programs[versions[p.i]], clock())
		case "partition":
			f.part(l, true)
			between(1, 20)
			f.part(l, false)
		case "sleep":
			p.sleep(func() { between(1, 8) })
		case "upgrade":
			p.blames()
			p.end(syscall.SIGTERM)
			versions[p.i] = 1 - versions[p.i]
			p.start(programs[versions[p.i]], clock())
		}
	}
	between(10, 10)
	cancel()
	wait()
	for _, p := range f.peers {
		p.blames()
	}
	t.Logf("%v min of %v", minutes, counts)
	v := f.verdict(bounds)
	late := len(v.Violations)
	if os.Getenv("VENN_CONTROL") != "" {
		if late == 0 {
			t.Error("without a defence of freshness no answer is late: the checker sees nothing")
		}
		return
	}
	if late > 0 || v.Wanted == 0 {
		t.Errorf("%d answers are later than %v of linked peers or %v of all", late, bounds.Linked, bounds.All)
	}
}

// part separates the daemons of even numbers from the others, or joins them again.
func (f *fleet) part(l line, apart bool) {
	f.mu.Lock()
	f.parted = apart
	f.mu.Unlock()
	from := f.now()
	l.cut(apart)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note(everybody, "", map[bool]string{true: "parts", false: "joins"}[apart])
	for _, p := range f.peers {
		for _, q := range f.peers[:p.i] {
			if (p.i+q.i)%2 > 0 {
				f.pair(p, q, !apart, from, f.now())
			}
		}
	}
}

// sleep stops the daemon's process for a while.
func (p *peer) sleep(while func()) {
	from := p.f.now()
	slept := from
	_ = p.cmd.Process.Signal(syscall.SIGSTOP)
	p.f.reaches(p, false, from, p.f.now())
	while()
	from = p.f.now()
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
	p.f.reaches(p, true, from, p.f.now())
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	p.f.note(p.i, "", fmt.Sprintf("wakes from %.1f s of sleep", (p.f.now()-slept).Seconds()))
}

// line is what the daemons are connected by: a namespace for each, as for a machine of its own, at one of two hubs, and
// a line between the hubs. libp2p takes eight connections from one address, so each has its own.
type line struct{ lab }

func newLine(t *testing.T) line {
	l := line{newLab(t)}
	for side := range 2 {
		l.hub(fmt.Sprint("hub", side))
	}
	l.wire("hub0", "line", "hub1", "line")
	for side := range 2 {
		l.in(fmt.Sprint("hub", side), "ip link set dev line master hub")
	}
	for i := range size {
		l.space(l.machine(i))
		l.plug(l.machine(i), fmt.Sprint("hub", i%2), l.address(i)+"/24")
	}
	return l
}

func (line) machine(i int) string { return fmt.Sprint("m", i) }

func (line) address(i int) string { return fmt.Sprintf("10.77.0.%d", i+1) }

// cut cuts the line between the hubs, which no machine notices, or mends it.
func (l line) cut(cut bool) {
	l.in("hub0", "ip link set dev line "+map[bool]string{true: "down", false: "up"}[cut])
}
