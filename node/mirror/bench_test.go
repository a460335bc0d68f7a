//go:build unix

package mirror

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
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

// BenchmarkPackets has a client take content from a mirror that gets it from another, whose origin sends it as a slow line
// does, packet by packet. In turn, mirrors write each packet by itself, and what comes in a while at once. It prints the
// processor's time for a megabyte, with that of the origin and the client, and the ratio.
func BenchmarkPackets(b *testing.B) {
	content := some(4<<20, 1)
	o := newRegistry(b)
	digest, _ := o.add(content)
	o.before = func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Length", strconv.Itoa(len(content)))
		for packet := range slices.Chunk(content, 1400) {
			_, _ = w.Write(packet)
			_ = http.NewResponseController(w).Flush()
			time.Sleep(100 * time.Microsecond)
		}
		return true
	}
	var took [2]time.Duration
	for b.Loop() {
		for i, gather := range []time.Duration{0, defaultTimes.gather} {
			in, pair := newBoard(), []peerOf(nil)
			for range 2 {
				p := in.start(b, Upstream{OCI: []string{o.URL}})
				p.times.gather = gather
				pair = append(pair, p)
			}
			begun := processor()
			allGet(b, pair, digest, content)
			took[i] += processor() - begun
		}
	}
	for i, unit := range []string{"each-ms/MB", "gathered-ms/MB"} {
		b.ReportMetric(took[i].Seconds()*1e9/float64(2*b.N*len(content)), unit)
	}
	b.ReportMetric(float64(took[0])/float64(took[1]), "each/gathered")
}

// processor returns the processor's time that the program took.
func processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
