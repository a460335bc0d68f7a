package mirror_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/node/mirror"
)

// registryRouter is what a mirror of registries such as Spegel asks of the network that it runs on.
type registryRouter interface {
	Ready(ctx context.Context) (bool, error)
	// Lookup returns the addresses of registries that have a digest. They come in as they are found, up to a count.
	Lookup(ctx context.Context, digest string, count int) (addresses, error)
	Advertise(ctx context.Context, digests []string) error
	Withdraw(ctx context.Context, digests []string) error
}

// addresses is filled while it is read.
type addresses interface {
	// Next waits for the next address. The error is io.EOF when there are no more.
	Next(ctx context.Context) (netip.AddrPort, error)
}

// ofRegistries is a registryRouter over the router of a node of venn. A key is the multihash of a digest, as that of the
// mirror of venn itself.
type ofRegistries struct {
	mirror.Router
	port uint16 // of the registries, the same on all machines
}

func (r ofRegistries) Advertise(ctx context.Context, digests []string) error {
	keys, err := keysOf(digests...)
	if err != nil {
		return err
	}
	return r.Router.Advertise(ctx, keys...)
}

func (r ofRegistries) Withdraw(ctx context.Context, digests []string) error {
	keys, err := keysOf(digests...)
	if err != nil {
		return err
	}
	return r.Router.Withdraw(ctx, keys...)
}

func (r ofRegistries) Lookup(ctx context.Context, digest string, count int) (addresses, error) {
	keys, err := keysOf(digest)
	if err != nil {
		return nil, err
	}
	found := &filling{changed: make(chan struct{})}
	go func() {
		for p := range r.Router.Lookup(ctx, keys[0]) {
			if at, ok := r.registryOf(p); ok {
				found.add(at)
				if count--; count == 0 {
					break
				}
			}
		}
		found.end()
	}()
	return found, nil
}

// registryOf returns the address of the registry beside a peer.
func (r ofRegistries) registryOf(p peer.AddrInfo) (netip.AddrPort, bool) {
	for _, a := range p.Addrs {
		if ip, err := manet.ToIP(a); err == nil {
			at, ok := netip.AddrFromSlice(ip)
			return netip.AddrPortFrom(at.Unmap(), r.port), ok
		}
	}
	return netip.AddrPort{}, false
}

// keysOf returns the keys of digests such as sha256:ab….
func keysOf(digests ...string) (keys [][]byte, err error) {
	for _, d := range digests {
		sum, err := mirror.ParseSum(strings.Replace(d, "sha256:", "sha256-", 1))
		if err != nil {
			return nil, err
		}
		keys = append(keys, sum.Key())
	}
	return keys, nil
}

// filling is addresses that come in.
type filling struct {
	mu      sync.Mutex
	all     []netip.AddrPort // not yet read
	over    bool
	changed chan struct{} // closed, and replaced, when there is something new
}

func (f *filling) add(at netip.AddrPort) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, at)
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *filling) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *filling) Next(ctx context.Context) (netip.AddrPort, error) {
	for {
		f.mu.Lock()
		if len(f.all) > 0 {
			at := f.all[0]
			f.all = f.all[1:]
			f.mu.Unlock()
			return at, nil
		}
		over, changed := f.over, f.changed
		f.mu.Unlock()
		if over {
			return netip.AddrPort{}, io.EOF
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return netip.AddrPort{}, ctx.Err()
		}
	}
}

// A router for another mirror of registries: it asks where a layer is, and reads the answers as they come.
func Example_routerForOthers() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	holder, holderHost := startRouter()
	defer holderHost.Close()
	seeker, seekerHost := startRouter(node.WithBootstrap(*host.InfoFromHost(holderHost)))
	defer seekerHost.Close()
	for ready := false; !ready; time.Sleep(10 * time.Millisecond) {
		ready, _ = seeker.Ready(ctx)
	}

	sum := sha256.Sum256([]byte("a layer"))
	layer := "sha256:" + hex.EncodeToString(sum[:])
	for _, change := range []func(context.Context, []string) error{holder.Advertise, holder.Withdraw} {
		if err := change(ctx, []string{layer}); err != nil {
			panic(err)
		}
		time.Sleep(time.Second) // linked peers hear of a change sooner; until then they go by what they know
		found, err := seeker.Lookup(ctx, layer, 3)
		if err != nil {
			panic(err)
		}
		for at, err := found.Next(ctx); !errors.Is(err, io.EOF); at, err = found.Next(ctx) {
			fmt.Println("layer at", at, err)
		}
		fmt.Println("no more")
	}
	// Output:
	// layer at 127.0.0.1:30020 <nil>
	// no more
	// no more
}

func startRouter(options ...node.Option) (registryRouter, host.Host) {
	h, err := libp2p.New(libp2p.ListenAddrs(ma.StringCast("/ip4/127.0.0.1/tcp/0")))
	if err != nil {
		panic(err)
	}
	n, err := node.New(h, append(options, node.WithNetwork("registries", 0))...)
	if err != nil {
		panic(err)
	}
	return ofRegistries{mirror.Over(n), 30020}, h
}
