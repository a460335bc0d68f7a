package node

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/p2p/security/noise"
	manet "github.com/multiformats/go-multiaddr/net"
	"github.com/multiformats/go-multistream"

	"github.com/venn-p2p/venn/overlay/wire"
)

// flood is half handshakes from eight addresses, at a rate a second, each held for two seconds, until the context ends.
// It counts the connections opened, and those of them that the host let get as far as noise.
func flood(ctx context.Context, t testing.TB, n *Node, rate int) (opened, begun *atomic.Int64) {
	t.Helper()
	to := must(manet.ToNetAddr(n.host.Addrs()[0]))
	opened, begun = new(atomic.Int64), new(atomic.Int64)
	var wg sync.WaitGroup
	t.Cleanup(wg.Wait)
	for from := range 8 {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+from))}, Timeout: time.Second}
		wg.Go(func() {
			ticker := time.NewTicker(8 * time.Second / time.Duration(rate))
			defer ticker.Stop()
			for ctx.Err() == nil {
				wg.Go(func() {
					c, err := dialer.DialContext(ctx, "tcp", to.String())
					if err != nil {
						return
					}
					defer c.Close()
					opened.Add(1)
					_ = c.SetDeadline(time.Now().Add(2 * time.Second))
					if _, err := multistream.SelectOneOf([]string{noise.ID}, c); err == nil {
						begun.Add(1)
					}
					_, _ = c.Read(make([]byte, 1)) // until the deadline, or until it is ended
				})
				<-ticker.C
			}
		})
	}
	return opened, begun
}

// TestFlood: half handshakes and idle streams from eight addresses keep a node neither from finding nor from dialling.
// With VENN_FLOOD, a time such as 20s, 1,000 half handshakes a second come for that time. Finds must not take twice as
// long as before. Without it there are 200 for a moment, on a machine that may be busy.
func TestFlood(t *testing.T) {
	rate, lasts := 200, time.Second
	long, err := time.ParseDuration(os.Getenv("VENN_FLOOD"))
	if err == nil {
		rate, lasts = 1000, long
	}
	h, _ := managed(t)
	n := nodeOn(t, h)
	const holders, keys = 4, 100
	var all [holders]*Node
	for i := range all {
		all[i] = newNode(t)
		add(t, all[i], keysOf(fmt.Sprint("of ", i, " "), keys)...)
		connect(t, n, all[i])
	}
	for _, holder := range all {
		eventually(t, "the holder is known", func() bool {
			held, err := n.SummaryOf(t.Context(), holder.ID())
			return err == nil && held.Parts() == held.Plan().Parts()
		})
	}
	// measure finds keys for a while, and dials hosts that it has never seen. It returns the 99th percentile of the
	// finds.
	measure := func() time.Duration {
		var took []time.Duration
		for i, end := 0, time.Now().Add(lasts); time.Now().Before(end) || i < 20; i++ {
			began := time.Now()
			key := keysOf(fmt.Sprint("of ", i%holders, " "), keys)[i%keys]
			if s := queried(t, n, key, QueryOptions{Timeout: time.Minute}); s.Found != 1 {
				t.Fatalf("find %d: %+v", i, s)
			}
			took = append(took, time.Since(began))
			if i%20 == 0 {
				other := newHost(t)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				if err := n.Connect(ctx, infoOf(other)); err != nil {
					t.Errorf("after %d finds nobody can be dialled: %v", i, err)
				}
				cancel()
				_ = other.Close()
			}
			time.Sleep(5 * time.Millisecond)
		}
		slices.Sort(took)
		return took[len(took)*99/100]
	}
	quiet := time.Duration(0)
	if long > 0 {
		quiet = measure()
	}
	for range 8 {
		r := newHost(t)
		dialTo(t, r, info(n))
		for range 13 {
			if s, err := r.NewStream(t.Context(), n.ID(), wire.ProtocolIn("venn", HaveID)); err == nil {
				_, _ = s.Write([]byte{5}) // and no more
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opened, begun := flood(ctx, t, n, rate)
	flooded := measure()
	eventually(t, "a handshake has begun", func() bool { return begun.Load() > 0 })
	cancel()
	t.Logf("p99 of finds %v (0: not measured), and %v while %d connections were opened in %v, %d of them as far as noise", quiet, flooded, opened.Load(), lasts, begun.Load())
	if long > 0 && flooded > 2*quiet {
		t.Errorf("finds take %v beside the flood, %v without it", flooded, quiet)
	}
}
