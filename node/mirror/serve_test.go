package mirror

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/net/gostream"

	"github.com/venn-p2p/venn/node"
)

// TestFilteredPeersAreNotServed has two peers ask for what a mirror has. Its node deals with one of them.
func TestFilteredPeersAreNotServed(t *testing.T) {
	o, b := newRegistry(t), newBoard()
	up := Upstream{OCI: []string{o.URL}}
	content := some(1000, 39)
	digest, sum := o.add(content)
	friend, stranger := b.start(t, up), b.start(t, up)
	holder := b.start(t, up, func(c *Config) {
		n, err := node.New(c.Host, node.WithPeerFilter(func(p peer.ID) bool { return p == friend.host.ID() }))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = n.Close() })
		c.Host = n.Host()
	})
	get(t, holder.url+blobs+digest).is(t, content)
	for _, p := range []peerOf{friend, stranger} {
		get(t, p.url+blobs+digest).is(t, content)
		_ = p.Withdraw(t.Context(), sum.Key())
	}
	if n := o.count("GET " + blobs); n != 2 {
		t.Errorf("the origin was asked %d times, want 2: by the holder and the stranger", n)
	}
}

// TestTimesOfPeers: a peer that does not finish its request, or does not take the answers, loses its stream. One that
// takes a long answer piece by piece has it whole.
func TestTimesOfPeers(t *testing.T) {
	t.Parallel()
	o, b := newRegistry(t), newBoard()
	p := b.start(t, Upstream{OCI: []string{o.URL}})
	sum := fill(t, o, p, 1, 1<<20)[0]
	begin := func(t *testing.T, request string) (host.Host, io.Reader) {
		h := newHost(t)
		p.connect(t, h)
		c, err := gostream.Dial(t.Context(), h, p.host.ID(), p.protocol())
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(30 * time.Second))
		go func() { _, _ = io.WriteString(c, request) }() // the mirror may not take all of it
		return h, c
	}
	open := func(h host.Host) (n int) {
		for _, c := range p.cfg.Host.Network().ConnsToPeer(h.ID()) {
			for _, s := range c.GetStreams() {
				if s.Protocol() == p.protocol() {
					n++
				}
			}
		}
		return n
	}
	get, head := fmt.Sprintf("GET /%s HTTP/1.1\r\nHost: x\r\n", sum), fmt.Sprintf("HEAD /%s HTTP/1.1\r\nHost: x\r\n\r\n", sum)
	for name, request := range map[string]string{
		"half a head": get, "half a body": get + "Content-Length: 100\r\n\r\nx", "no answers taken": strings.Repeat(head, 10_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, _ := begin(t, request)
			until(t, "the stream is there", func() bool { return open(h) > 0 })
			until(t, "the stream has ended", func() bool { return open(h) == 0 })
		})
	}
	t.Run("slow, but it goes on", func(t *testing.T) {
		t.Parallel()
		_, c := begin(t, get+"Connection: close\r\n\r\n")
		begun, got, buf := time.Now(), 0, make([]byte, 128<<10)
		for {
			n, err := io.ReadFull(c, buf)
			if got += n; err != nil {
				break
			}
			time.Sleep(testTimes.stuck / 5)
		}
		if took := time.Since(begun); got <= 1<<20 || took < testTimes.stuck {
			t.Errorf("%d bytes in %v", got, took)
		}
	})
}
