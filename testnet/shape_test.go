package testnet

import (
	"context"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/testnet/link"
)

// twoHosts are hosts of the classes, connected.
func twoHosts(t testing.TB, shape bool, a, b link.Class) (from, to host.Host) {
	t.Helper()
	w := newWires(TCP, &roster{})
	if shape {
		w.latency = func(int, int) time.Duration { return lineLatency }
	}
	t.Cleanup(w.close)
	rng := rand.New(rand.NewPCG(1, 2))
	hosts := make([]host.Host, 2)
	for i, c := range []link.Class{a, b} {
		key, err := identity(rng)
		if err != nil {
			t.Fatal(err)
		}
		if hosts[i], _, err = w.host(site{number: i, key: key, up: c.Rate, down: c.Rate}, newMeter(time.Now())); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { hosts[i].Close() })
	}
	if err := hosts[0].Connect(t.Context(), peer.AddrInfo{ID: hosts[1].ID(), Addrs: hosts[1].Addrs()}); err != nil {
		t.Fatal(err)
	}
	return hosts[0], hosts[1]
}

// send sends n bytes and waits until they are there. It returns the rate in bit/s at which they came, from the first to
// the last, without the latency.
func send(t testing.TB, from, to host.Host, n int) float64 {
	t.Helper()
	rate := make(chan float64, 1)
	to.SetStreamHandler("/sink", func(s network.Stream) {
		defer s.Close()
		b := make([]byte, n)
		first, err := s.Read(b)
		began := time.Now()
		if err == nil {
			_, err = io.ReadFull(s, b[first:])
		}
		if err != nil {
			t.Error(err)
		}
		rate <- 8 * float64(n-first) / time.Since(began).Seconds()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	s, err := from.NewStream(ctx, to.ID(), "/sink")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Write(make([]byte, n)); err != nil {
		t.Fatal(err)
	}
	return <-rate
}

// Hosts whose lines are shaped exchange bytes no faster than the slower line, whoever dials. How fast lines are exactly
// is a test of package link, on virtual time.
func TestShapedHosts(t *testing.T) {
	slow, fast := link.Class{Rate: 2_000_000}, link.Class{Rate: 1_000_000_000}
	const n = 128 << 10
	const most = 2_500_000 // a line makes up for 0.1 s by which timers are late, of the 0.52 s that n bytes take
	rate := func(a, b host.Host) float64 {
		began := time.Now()
		send(t, a, b, n)
		return 8 * n / time.Since(began).Seconds()
	}
	for _, ends := range [][2]link.Class{{slow, fast}, {fast, slow}} {
		a, b := twoHosts(t, true, ends[0], ends[1])
		if r := rate(a, b); r > most {
			t.Errorf("there at %.0f bit/s", r)
		}
		if r := rate(b, a); r > most {
			t.Errorf("back at %.0f bit/s", r)
		}
	}
	a, b := twoHosts(t, false, slow, slow)
	for range 20 { // a busy machine may be slow
		if rate(a, b) > most {
			return
		}
	}
	t.Error("lines are slow without being shaped")
}

// BenchmarkShaped measures the rate of 1 MiB between hosts with lines of 256 kbit/s, and of 10 Mbit/s.
func BenchmarkShaped(b *testing.B) {
	for name, rate := range map[string]uint64{"256kbit": 256_000, "10mbit": 10_000_000} {
		class := link.Class{Rate: rate}
		b.Run(name, func(b *testing.B) {
			x, y := twoHosts(b, true, class, class)
			for b.Loop() {
				b.ReportMetric(send(b, x, y, 1<<20)/1000, "kbit/s-there")
				b.ReportMetric(send(b, y, x, 1<<20)/1000, "kbit/s-back")
			}
		})
	}
}
