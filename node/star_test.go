package node

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/network"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/overlay/wire"
)

// starKey is the key that one node of a star holds.
func starKey(i int) []byte { return fmt.Appendf(nil, "star/%d", i) }

// star starts nodes that all begin at the first, each with a key from its start on, one each gap.
func star(t *testing.T, peers int, gap time.Duration, transport string) []*Node {
	t.Helper()
	var nodes []*Node
	for i := range peers {
		var opts []Option
		if i > 0 {
			opts = append(opts, WithBootstrap(info(nodes[0])))
			time.Sleep(gap)
		}
		n := nodeOn(t, hostOn(t, transport, libp2p.ResourceManager(&network.NullResourceManager{})), opts...)
		add(t, n, starKey(i))
		nodes = append(nodes, n)
	}
	return nodes
}

// lone counts the nodes without a link.
func lone(t *testing.T, nodes []*Node) (count int) {
	t.Helper()
	for _, n := range nodes {
		if statusOf(t, n).Links == 0 {
			count++
		}
	}
	return count
}

// missed counts the finds of a key that a node does not find, of which each node makes three: of the keys of the
// nodes before it. skip is how many of the first nodes neither ask nor are asked for.
func missed(t *testing.T, nodes []*Node, skip int) (missed int) {
	t.Helper()
	live := len(nodes) - skip
	for i := range live {
		for _, back := range []int{1, 7, 19} {
			j := skip + (i-back+live)%live
			if found := find(t, nodes[skip+i], starKey(j), QueryOptions{Timeout: 10 * time.Second}); len(found) == 0 {
				missed++
			}
		}
	}
	return missed
}

// TestStar starts nodes that know nothing but the first. It takes fewer links than there are nodes. Nobody stays alone,
// and every key is found, also after the first is gone.
func TestStar(t *testing.T) {
	cases := []struct {
		peers     int
		gap       time.Duration
		transport string
		long      bool
	}{
		{31, 0, "both", true},
		{31, 100 * time.Millisecond, "quic", false},
		{61, 0, "quic", true},
		{61, 100 * time.Millisecond, "tcp", true},
	}
	for _, c := range cases {
		t.Run(fmt.Sprint(c.peers, " each ", c.gap, " by ", c.transport), func(t *testing.T) {
			if c.long && testing.Short() {
				t.Skip("takes up to ten seconds")
			}
			checkStar(t, star(t, c.peers, c.gap, c.transport))
		})
	}
}

// TestSlowStar is TestStar for nodes that come one by one.
func TestSlowStar(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	t.Parallel()
	checkStar(t, star(t, 31, time.Second, "quic"))
}

// checkStar checks that all nodes of a star are linked and find each other's keys, then the same without the first.
func checkStar(t *testing.T, nodes []*Node) {
	t.Helper()
	within(t, 10*time.Second, "all are linked", func() bool { return lone(t, nodes) == 0 })
	within(t, 20*time.Second, "all keys are found", func() bool { return missed(t, nodes, 0) == 0 })
	if err := nodes[0].host.Close(); err != nil {
		t.Fatal(err)
	}
	within(t, 10*time.Second, "all are linked without the first", func() bool { return lone(t, nodes[1:]) == 0 })
	within(t, 20*time.Second, "all keys but the first's are found", func() bool { return missed(t, nodes, 1) == 0 })
}

// within waits until ok returns true, for at most d.
func within(t *testing.T, d time.Duration, what string, ok func() bool) {
	t.Helper()
	begun := time.Now()
	for !ok() {
		if time.Since(begun) > d {
			t.Fatalf("not within %v: %s", d, what)
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("%s after %v", what, time.Since(begun).Round(10*time.Millisecond))
}

// TestTricklingStreams: peers that hold all places, each with a request that never ends, keep no newcomer out, and the
// node dials others. Such a stream is no use of a link.
func TestTricklingStreams(t *testing.T) {
	n := newNode(t)
	stop := make(chan struct{})
	var trickles sync.WaitGroup
	t.Cleanup(func() { close(stop); trickles.Wait() })
	for range core.Connections / 2 {
		r := &raw{t: t, h: newHost(t)}
		r.greet(n)
		s, err := r.h.NewStream(t.Context(), n.ID(), wire.ProtocolIn("venn", HaveID))
		if err != nil {
			t.Fatal(err)
		}
		trickles.Go(func() {
			for b := byte(100); ; b = 0 { // of a message of 100 bytes
				if _, err := s.Write([]byte{b}); err != nil {
					return
				}
				select {
				case <-stop:
					_ = s.Reset()
					return
				case <-time.After(100 * time.Millisecond):
				}
			}
		})
	}
	if _, taken := n.links.Counts(); taken != core.Connections/2 {
		t.Fatalf("%d links taken", taken)
	}
	time.Sleep(time.Second)
	if stale := n.links.Stale(n.now() + time.Hour); len(stale) != core.Connections/2 {
		t.Errorf("%d links would be idle in an hour", len(stale))
	}
	for range core.Connections {
		if err := n.Connect(t.Context(), info(newNode(t))); err != nil {
			t.Error(err)
		}
	}
	newcomer := newNode(t, WithBootstrap(info(n)))
	within(t, 10*time.Second, "the newcomer is linked", func() bool { return lone(t, []*Node{newcomer}) == 0 })
}
