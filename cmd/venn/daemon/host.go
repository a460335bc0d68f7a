package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/pnet"
	"github.com/libp2p/go-libp2p/gologshim"
	"github.com/libp2p/go-libp2p/p2p/net/conngater"
	"github.com/libp2p/go-libp2p/p2p/net/connmgr"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/node/interfaces"
)

// checkHost checks the host's settings before the store opens, which may take long. So a wrong setting ends the
// daemon at once.
func (d *daemon) checkHost(context.Context) error {
	key, err := d.repo.Identity()
	if err != nil {
		return err
	}
	if _, err := d.privateNetwork(); err != nil {
		return err
	}
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return err
	}
	return d.choosePorts(id)
}

// seldom is the log of libp2p, which writes what others cause as errors, too: a line for each identify message with a
// wrong key. It hands on one error in ten seconds, and nothing less.
type seldom struct {
	slog.Handler
	last *atomic.Int64 // when an error was handed on, in nanoseconds since 1970
}

func (seldom) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }

func (s seldom) Handle(ctx context.Context, r slog.Record) error {
	last, now := s.last.Load(), time.Now().UnixNano()
	if now-last < int64(10*time.Second) && now >= last || !s.last.CompareAndSwap(last, now) {
		return nil
	}
	return s.Handler.Handle(ctx, r)
}

func (s seldom) WithAttrs(a []slog.Attr) slog.Handler { return seldom{s.Handler.WithAttrs(a), s.last} }

func (s seldom) WithGroup(name string) slog.Handler { return seldom{s.Handler.WithGroup(name), s.last} }

// openHost makes the libp2p host that the configuration describes. With GOLOG_LOG_LEVEL libp2p logs as that says.
func (d *daemon) openHost(context.Context) error {
	if os.Getenv("GOLOG_LOG_LEVEL") == "" {
		gologshim.SetDefaultHandler(seldom{d.log.Handler(), new(atomic.Int64)})
	}
	key, err := d.repo.Identity()
	if err != nil {
		return err
	}
	// The node itself limits the connections that it makes and its links to limits.connections. The connection manager
	// limits the connections that others make.
	connections, err := connmgr.NewConnManager(d.cfg.Limits.Connections, 2*d.cfg.Limits.Connections)
	if err != nil {
		return fmt.Errorf("connection manager: %w", err)
	}
	gater, err := conngater.NewBasicConnectionGater(nil)
	if err != nil {
		return fmt.Errorf("connection gater: %w", err)
	}
	opts := []libp2p.Option{
		libp2p.Identity(key),
		// libp2p's metrics are off, because nobody reads them
		libp2p.DisableMetrics(), node.Guarded, libp2p.ConnectionManager(connections),
		libp2p.UserAgent("venn/" + d.opts.Version), libp2p.EnableAutoNATv2(),
		libp2p.ConnectionGater(quiet{gater}),
	}
	d.interfaces = interfaces.New()
	more, err := d.reachability()
	if err != nil {
		return err
	}
	private, err := d.privateNetwork()
	if err != nil {
		return err
	}
	if len(private) > 0 {
		d.log.Info("a private network, by swarm.key: QUIC is off")
	}
	opts = append(append(opts, more...), private...)
	if d.host, err = libp2p.New(append(opts, libp2p.ListenAddrStrings(d.listen...))...); err != nil {
		return err
	}
	if len(private) == 0 && onPort(d.listen, repo.DefaultPort) && sharesPort(d.host, d.listen) {
		id := d.host.ID()
		if err := errors.Join(d.host.Close(), d.useFallbackPort(id)); err != nil {
			return err
		}
		if d.host, err = libp2p.New(append(opts, libp2p.ListenAddrStrings(d.listen...))...); err != nil {
			return err
		}
	}
	d.interfaces.Follow(d.host)
	d.onClose(d.host.Close)
	return nil
}

// quiet turns off TCP's own signs of life, which both ends send each half a minute: the muxer's pings tell as much.
// It lets all connections pass.
type quiet struct {
	*conngater.BasicConnectionGater
}

// InterceptSecured has a connection whose TCP libp2p has set up.
func (quiet) InterceptSecured(_ network.Direction, _ peer.ID, c network.ConnMultiaddrs) bool {
	if c, ok := c.(interface{ SetKeepAlive(on bool) error }); ok {
		_ = c.SetKeepAlive(false) // after an error, both send as much as before
	}
	return true
}

// reachability returns the options by which this peer, or others through it, can be reached behind a NAT.
func (d *daemon) reachability() (opts []libp2p.Option, err error) {
	nat := d.cfg.NAT
	if nat.PortMap {
		opts = append(opts, libp2p.NATPortMap())
	}
	if nat.HolePunching {
		opts = append(opts, node.HolePunching)
	}
	if nat.RelayService {
		opts = append(opts, libp2p.EnableRelayService())
	}
	var relays []peer.AddrInfo
	for _, text := range nat.Relays {
		info, err := peer.AddrInfoFromString(text)
		if err != nil {
			return nil, fmt.Errorf("nat.relays: %w", err)
		}
		relays = append(relays, *info)
	}
	if len(relays) > 0 {
		opts = append(opts, libp2p.EnableAutoRelayWithStaticRelays(relays))
	}
	announce, err := multiaddrs("addresses.announce", d.cfg.Addresses.Announce)
	if err != nil {
		return nil, err
	}
	also, err := multiaddrs("addresses.announce_also", d.cfg.Addresses.AnnounceAlso)
	if err != nil {
		return nil, err
	}
	return append(opts, libp2p.AddrsFactory(d.interfaces.Factory(func(own []ma.Multiaddr) []ma.Multiaddr { return announced(own, announce, also) }))), nil
}

// announced returns the addresses to tell peers: announce, or the host's own if announce is empty, and those of
// also.
func announced(own, announce, also []ma.Multiaddr) []ma.Multiaddr {
	if len(announce) > 0 {
		own = announce
	}
	all := slices.Clone(own)
	for _, a := range also {
		if !slices.ContainsFunc(all, a.Equal) {
			all = append(all, a)
		}
	}
	return all
}

// multiaddrs parses the addresses in a key of the configuration.
func multiaddrs(key string, texts []string) (out []ma.Multiaddr, err error) {
	for _, text := range texts {
		a, err := ma.NewMultiaddr(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		out = append(out, a)
	}
	return out, nil
}

// privateNetwork returns the option with the network's pre-shared key, if the repository has one.
func (d *daemon) privateNetwork() ([]libp2p.Option, error) {
	name, key, err := d.repo.SwarmKey()
	if key == nil || err != nil {
		return nil, err
	}
	psk, err := pnet.DecodeV1PSK(bytes.NewReader(key))
	if err != nil {
		return nil, fmt.Errorf("%s is no key of a private network (%w): put back a copy; without the file, the network is an open one", name, err)
	}
	return []libp2p.Option{libp2p.PrivateNetwork(psk)}, nil
}
