package mirror_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"iter"
	"testing"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/mirror"
)

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// TestRouters holds the router for other mirrors to what they ask of it: over a router in memory, over nodes of venn, and
// over kad-dht, which cannot take back what it has told. Nodes alone hear that a peer has died.
func TestRouters(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ withdraws, buries bool }{"memory": {withdraws: true}, "venn": {withdraws: true, buries: true}, "kad-dht": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hosts := []host.Host{mirror.NewHost(t), mirror.NewHost(t), mirror.NewHost(t)}
			var all []registryRouter
			for _, r := range mirror.Routers[name](t, hosts...) {
				all = append(all, ofRegistries{r, 30020})
			}
			layer, tag := digestOf("a layer"), digestOf("a manifest")
			finds := func(what string, from registryRouter, digest string, count, want int) {
				t.Helper()
				found, err := from.Lookup(t.Context(), digest, count)
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				for at, err := found.Next(t.Context()); !errors.Is(err, io.EOF); at, err = found.Next(t.Context()) {
					if n++; err != nil || at.String() != "127.0.0.1:30020" {
						t.Fatalf("%s: %v, %v", what, at, err)
					}
				}
				if n != want {
					t.Errorf("%s: %d found, want %d", what, n, want)
				}
			}
			one, two, seeker := all[0], all[1], all[2]
			if ready, err := seeker.Ready(t.Context()); !ready || err != nil {
				t.Fatalf("ready: %v, %v", ready, err)
			}
			finds("before", seeker, layer, 3, 0)
			if err := errors.Join(one.Advertise(t.Context(), []string{layer, tag}), two.Advertise(t.Context(), []string{layer})); err != nil {
				t.Fatal(err)
			}
			finds("advertised by two", seeker, layer, 3, 2)
			finds("no more than asked for", seeker, layer, 1, 1)
			finds("advertised by one", seeker, tag, 3, 1)
			finds("by itself, and by another", one, layer, 3, 1)
			left := map[bool]int{false: 1}
			if err := one.Withdraw(t.Context(), []string{tag}); (err == nil) != c.withdraws {
				t.Error(err)
			}
			finds("withdrawn", seeker, tag, 3, left[c.withdraws])
			_ = hosts[0].Close()
			finds("one has died", seeker, layer, 3, 1+left[c.buries])
			for _, bad := range []string{"sha512:ab", "", "sha256:xy"} {
				_, err := seeker.Lookup(t.Context(), bad, 1)
				if err == nil || seeker.Advertise(t.Context(), []string{bad}) == nil || seeker.Withdraw(t.Context(), []string{bad}) == nil {
					t.Errorf("%q passes for a digest", bad)
				}
			}
		})
	}
}

// slowly names two peers, the second one later.
type slowly struct {
	mirror.Router
	first, second peer.AddrInfo
	later         chan struct{}
}

func (s slowly) Lookup(context.Context, []byte) iter.Seq[peer.AddrInfo] {
	return func(yield func(peer.AddrInfo) bool) {
		if yield(s.first) {
			<-s.later
			yield(s.second)
		}
	}
}

// TestAddressesFill reads addresses while the lookup goes on.
func TestAddressesFill(t *testing.T) {
	one, two := mirror.NewHost(t), mirror.NewHost(t)
	s := slowly{first: *host.InfoFromHost(one), second: *host.InfoFromHost(two), later: make(chan struct{})}
	found, err := ofRegistries{s, 30020}.Lookup(t.Context(), digestOf("a layer"), 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := found.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if at, err := found.Next(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("while nobody else was named: %v, %v", at, err)
	}
	close(s.later)
	if _, err := found.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	if at, err := found.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v, %v", at, err)
	}
}
