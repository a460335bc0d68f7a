package fleet

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	publicA, publicB, publicC = "45.33.1.1", "45.33.1.2", "45.33.1.3"

	settle        = time.Minute      // for what takes seconds on an idle machine
	changedSettle = 30 * time.Second // for a change of address, 10 s on an idle machine; by go-libp2p alone it takes 60
)

// two are two daemons on the internet: b begins with a.
func two(l *internet, env ...string) (a, b *machine) {
	l.public("a", publicA)
	l.public("b", publicB)
	a = l.machine("a").start(env...)
	b = l.machine("b").start(append(env, "VENN_DISCOVERY_BOOTSTRAP="+a.at(publicA))...)
	return a, b
}

// know gives two daemons a key each, and waits until each finds what the other has.
func know(l *internet, a, b *machine) {
	l.t.Helper()
	a.venn("keys", "add", "of-a")
	b.venn("keys", "add", "of-b")
	took := l.eventually("b finds a's key", settle, func() bool { return b.finds("of-a") })
	took += l.eventually("a finds b's key", settle, func() bool { return a.finds("of-b") })
	l.t.Logf("both find after %v", took.Round(100*time.Millisecond))
}

// TestBehindRouter: a daemon behind a router finds, and is found by, one on the internet.
func TestBehindRouter(t *testing.T) {
	for _, symmetric := range []bool{false, true} {
		t.Run(fmt.Sprintf("symmetric %v", symmetric), func(t *testing.T) {
			l := newInternet(t)
			l.public("a", publicA)
			l.behind("b", "router", publicB, symmetric)
			a := l.machine("a").start()
			b := l.machine("b").start("VENN_DISCOVERY_BOOTSTRAP=" + a.at(publicA))
			know(l, a, b)
			if s := b.venn("status"); !strings.Contains(s, "reached by others    local") {
				t.Errorf("status says\n%s", s)
			}
		})
	}
}

// TestRelay: two daemons behind a router each find each other's keys through a relay, and where the routers allow it,
// go on without.
func TestRelay(t *testing.T) {
	for _, symmetric := range []bool{true, false} {
		t.Run(fmt.Sprintf("symmetric %v", symmetric), func(t *testing.T) {
			l := newInternet(t)
			l.public("relay", publicC)
			at := l.relay("relay", publicC)
			l.behind("a", "routera", publicA, symmetric)
			l.behind("b", "routerb", publicB, symmetric)
			env := []string{"VENN_NAT_RELAYS=" + at, "VENN_DISCOVERY_BOOTSTRAP=" + at}
			a := l.machine("a").start(env...)
			circuit := ""
			took := l.eventually("a is reached through the relay", 4*time.Minute, func() bool {
				for _, address := range a.identity().Addresses {
					if strings.Contains(address, "/p2p-circuit/") {
						circuit = address
					}
				}
				return circuit != ""
			})
			t.Logf("a is reached through the relay after %v", took.Round(time.Second))
			if s := a.venn("status"); !strings.Contains(s, "reached by others    relayed") {
				t.Errorf("status says\n%s", s)
			}
			b := l.machine("b").start("VENN_NAT_RELAYS="+at, "VENN_DISCOVERY_BOOTSTRAP="+circuit)
			know(l, a, b)
			began := time.Now()
			if !b.finds("of-a") || time.Since(began) > 5*time.Second {
				t.Errorf("a find through the relay took %v", time.Since(began))
			}
			t.Logf("a find took %v", time.Since(began).Round(time.Millisecond))
			if symmetric {
				if k := b.knows(a); len(k.direct) > 0 || len(k.relayed) == 0 {
					t.Errorf("through symmetric routers, b is connected with a at %q", k.Addresses)
				}
				return
			}
			took = l.eventually("b is connected with a directly", settle, func() bool { return len(b.knows(a).direct) > 0 })
			t.Logf("connected at %q %v later", b.knows(a).direct, took.Round(time.Second))
			l.eventually("b has a's summary", settle, func() bool { return b.knows(a).Parts > 0 })
			know(l, a, b)
		})
	}
}

// TestPartition: two daemons that lose their line for a minute find each other's keys again soon after it is back.
func TestPartition(t *testing.T) {
	l := newInternet(t)
	a, b := two(l)
	know(l, a, b)
	l.in("inet", "ip link set dev b down")
	time.Sleep(time.Minute) // the partition
	a.venn("keys", "add", "while-apart")
	l.in("inet", "ip link set dev b up")
	took := l.eventually("b finds what a took in meanwhile", 3*settle, func() bool { return b.finds("while-apart") })
	t.Logf("found %v after the line was back", took.Round(100*time.Millisecond))
	know(l, a, b)
}

// TestSlowLine: a line of 256 kbit/s, undeclared, carries summaries of 20,000 keys, and confirmations beside them.
func TestSlowLine(t *testing.T) {
	l := newInternet(t)
	a, b := two(l)
	for _, end := range []string{"a", "b"} {
		l.in(end, "tc qdisc add dev inet root tbf rate 256kbit burst 16kb latency 400ms")
	}
	var keys strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&keys, "key %d\n", i)
	}
	if out, err := a.askWith(strings.NewReader(keys.String()), "keys", "add", "-"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	know(l, a, b)
	began := time.Now()
	for range 5 {
		if !b.finds("of-a") {
			t.Error("a key is not found while summaries are under way")
		}
	}
	t.Logf("five finds in %v", time.Since(began).Round(time.Millisecond))
}

// TestChangedAddress gives a peer another address in place of its own. Whether it had made the connection or not, it is
// found there and finds others from there.
func TestChangedAddress(t *testing.T) {
	for _, transport := range []string{"tcp", "quic-v1"} {
		for _, moves := range []string{"a", "b"} {
			t.Run(fmt.Sprintf("%s, %s moves", transport, moves), func(t *testing.T) {
				l := newInternet(t)
				l.public("a", publicA)
				l.public("b", publicB)
				a := l.machine("a").start()
				b := l.machine("b").start("VENN_DISCOVERY_BOOTSTRAP=" + a.by(publicA, transport))
				know(l, a, b)
				mover, other := a, b
				if moves == "b" {
					mover, other = b, a
				}
				l.in(moves, "ip addr flush dev inet")
				l.in(moves, "ip addr add "+publicC+"/16 dev inet")
				l.in(moves, "ip route replace default dev inet")
				took := l.eventually("its key is found at its new address", changedSettle, func() bool {
					out, err := other.ask("find", "of-"+moves, "--json", "--timeout", "2s")
					return err == nil && strings.Contains(out, publicC)
				})
				took2 := l.eventually("it finds others' keys", changedSettle, func() bool {
					_, err := mover.ask("find", "of-"+other.space, "--timeout", "2s")
					return err == nil
				})
				t.Logf("found there after %v, and finds %v after that", took.Round(100*time.Millisecond), took2.Round(100*time.Millisecond))
			})
		}
	}
}

// TestMDNS: two daemons on one network find each other with nobody named.
func TestMDNS(t *testing.T) {
	l := newInternet(t)
	l.public("a", publicA)
	l.public("b", publicB)
	a, b := l.machine("a").start("VENN_DISCOVERY_MDNS=true"), l.machine("b").start("VENN_DISCOVERY_MDNS=true")
	know(l, a, b)
}

// TestPreSharedKey: two daemons with the key of a private network find each other's keys; one without it finds nothing.
func TestPreSharedKey(t *testing.T) {
	l := newInternet(t)
	l.public("a", publicA)
	l.public("b", publicB)
	l.public("c", publicC)
	a, b, c := l.machine("a"), l.machine("b"), l.machine("c")
	key := "/key/swarm/psk/1.0.0/\n/base16/\n" + strings.Repeat("0123456789abcdef", 4) + "\n"
	for _, p := range []*machine{a, b} {
		if err := os.WriteFile(filepath.Join(p.repo, "swarm.key"), []byte(key), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tcp := func(address string) string { return "VENN_ADDRESSES_LISTEN=/ip4/" + address + "/tcp/4001" }
	a.start(tcp(publicA))
	begin := "VENN_DISCOVERY_BOOTSTRAP=" + a.at(publicA)
	b.start(tcp(publicB), begin)
	c.start(tcp(publicC), begin)
	know(l, a, b)
	if c.finds("of-a") || strings.Contains(c.venn("peers"), "linked") {
		t.Error("a peer without the key is in the network")
	}
}
