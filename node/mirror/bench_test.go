//go:build unix

package mirror

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	bandwidth "github.com/libp2p/go-libp2p/core/metrics"
)

// BenchmarkTransfer has a client take content from a mirror that gets it from another, over TCP and over QUIC in turn. It
// prints the processor's time for a megabyte, with that of the client, and the ratio.
func BenchmarkTransfer(b *testing.B) {
	content := some(32<<20, 1)
	o := newRegistry(b)
	digest, sum := o.add(content)
	var takers []peerOf
	for _, listen := range []string{"/ip4/127.0.0.1/tcp/0", "/ip4/127.0.0.1/udp/0/quic-v1"} {
		in := newBoard()
		for range 2 {
			takers = append(takers, in.start(b, Upstream{OCI: []string{o.URL}}, func(c *Config) {
				c.Host = newHostAt(b, listen)
				c.Router = view{in, c.Host}
			}))
		}
		get(b, takers[len(takers)-2].url+blobs+digest).is(b, content)
	}
	var took [2]time.Duration
	for b.Loop() {
		for i := range took {
			p, begun := takers[2*i+1], processor()
			req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, p.url+blobs+digest, nil)
			if err != nil {
				b.Fatal(err)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				b.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil || !bytes.Equal(got, content) {
				b.Fatal(err)
			}
			took[i] += processor() - begun
			for _, there := p.cache.size(sum); !there; _, there = p.cache.size(sum) {
				time.Sleep(time.Millisecond)
			}
			p.cache.drop(sum)
		}
	}
	for i, unit := range []string{"tcp-ms/MB", "quic-ms/MB"} {
		b.ReportMetric(took[i].Seconds()*1e9/float64(b.N*len(content)), unit)
	}
	b.ReportMetric(float64(took[1])/float64(took[0]), "quic/tcp")
}

// BenchmarkRouters has ten mirrors over kad-dht, then ten over nodes of venn, get the same contents for clients: each 50 at
// once, which nobody else asks for; then 200 in turn, and another mirror asks for each of them as soon as it is there.
// It prints what the hosts send meanwhile for the first, and in 30 s after: to look for holders in vain, and to
// advertise. Then how long clients wait for content that nobody has, or another has, and how many of the latter come from
// the origin; and of 20 contents each how many are named still .5 s after they were withdrawn, or their holder died.
func BenchmarkRouters(b *testing.B) {
	const mirrors, own, fresh, gone = 10, 50, 200, 20
	for _, name := range []string{"kad-dht", "venn"} {
		b.Run(name, func(b *testing.B) {
			o, in, sent := newRegistry(b), newBoard(), bandwidth.NewBandwidthCounter()
			var hosts []host.Host
			for range mirrors {
				hosts = append(hosts, newHost(b, libp2p.BandwidthReporter(sent)))
			}
			var all []peerOf
			for i, r := range Routers[name](b, hosts...) {
				all = append(all, in.start(b, Upstream{OCI: []string{o.URL}}, func(c *Config) {
					c.Host, c.Router, c.times, c.Log = hosts[i], r, defaultTimes, slog.New(slog.DiscardHandler)
				}))
			}
			number := uint64(0)
			content := func() (digest string, sum Sum) {
				number++
				return o.add(some(4000, number))
			}
			pull := func(p peerOf, digest string) time.Duration {
				begun := time.Now()
				if got := get(b, p.url+blobs+digest); got.err != nil || len(got.body) != 4000 {
					b.Errorf("status %d, %d bytes, %v", got.status, len(got.body), got.err)
				}
				return time.Since(begun)
			}
			for b.Loop() {
				before := sent.GetBandwidthTotals().TotalOut
				sums := make([][]Sum, mirrors)
				var wg sync.WaitGroup
				for i, p := range all {
					digests := make([]string, own)
					for j := range digests {
						digest, sum := content()
						digests[j], sums[i] = digest, append(sums[i], sum)
					}
					wg.Go(func() {
						for _, digest := range digests {
							pull(p, digest)
						}
					})
				}
				wg.Wait()
				time.Sleep(30 * time.Second)
				b.ReportMetric(float64(sent.GetBandwidthTotals().TotalOut-before)/1000, "first-kB")
				var nobody, held []float64
				asked := o.count("GET " + blobs)
				for i := range fresh {
					digest, _ := content()
					nobody = append(nobody, pull(all[i%mirrors], digest).Seconds()*1000)
					held = append(held, pull(all[(i+1)%mirrors], digest).Seconds()*1000)
				}
				slices.Sort(nobody)
				slices.Sort(held)
				b.ReportMetric(nobody[fresh*99/100], "nobody-p99-ms")
				b.ReportMetric(held[fresh/2], "held-p50-ms")
				b.ReportMetric(held[fresh*99/100], "held-p99-ms")
				b.ReportMetric(float64(o.count("GET "+blobs)-asked-fresh), "held-from-origin")
				named := func(i int) (n float64) {
					time.Sleep(500 * time.Millisecond)
					for _, sum := range sums[i][:gone] {
						for p := range all[1].cfg.Router.Lookup(b.Context(), sum.Key()) {
							if p.ID == hosts[i].ID() {
								n++
							}
						}
					}
					return n
				}
				for _, sum := range sums[0][:gone] {
					all[0].cache.drop(sum)
				}
				b.ReportMetric(named(0), "withdrawn-named")
				_ = hosts[mirrors-1].Close()
				b.ReportMetric(named(mirrors-1), "dead-named")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// processor returns the processor's time that the program took.
func processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
