// Package daemon runs a node as a program, on the repository of a user. It makes the libp2p host, opens the store
// and finds peers. It serves the node to the user's commands and to other programs.
package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/discovery/mdns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/node/httpapi"
	"github.com/venn-p2p/venn/node/interfaces"
	"github.com/venn-p2p/venn/node/mirror"
	"github.com/venn-p2p/venn/node/store"
	"github.com/venn-p2p/venn/summary"
)

// Options are the settings of a daemon by its caller.
type Options struct {
	Bootstrap []peer.AddrInfo // peers to begin with, besides the configuration's
	Place     string          // label of the mirror's place; empty: the configuration's
	Version   string
	Log       *slog.Logger
	Level     *slog.LevelVar // level of Log; nil: it cannot be changed while the daemon runs
	Ready     func(Started)  // called once the daemon serves; may be nil
}

// Started describes a daemon that serves.
type Started struct {
	ID        string   `json:"id"`
	Addresses []string `json:"addresses"`
	HTTP      string   `json:"http,omitempty"`
	Mirror    string   `json:"mirror,omitempty"`
	Keys      int      `json:"keys"` // number of keys, as in the status: it includes the key by which mirrors meet
}

// Run runs a daemon on a repository until ctx ends. The end of ctx is no error.
func Run(ctx context.Context, r repo.Repo, o Options) error { return run(ctx, r, o, new(daemon)) }

func run(ctx context.Context, r repo.Repo, o Options, d *daemon) (err error) {
	if err := d.take(r, o.Log); err != nil {
		return err
	}
	d.opts = o
	defer func() { err = errors.Join(err, d.close()) }()
	for _, step := range []func(context.Context) error{d.listenHTTP, d.checkHost, d.openStore, d.openHost, d.openNode, d.openMirror} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return d.serve(ctx)
}

// daemon has the open parts of a daemon. closers are called from the last to the first.
type daemon struct {
	repo repo.Repo
	cfg  repo.Config
	opts Options
	log  *slog.Logger

	registry   *prometheus.Registry
	store      *store.Store
	removals   *repo.Removals
	listen     []string // addresses to listen on
	host       host.Host
	interfaces *interfaces.Watch // keeps the host's addresses up to date
	node       *node.Node
	serving    *serving
	control    net.Listener
	public     net.Listener // listener for other programs; nil: there is none
	clients    net.Listener // listener for the mirror's clients; nil: there is none
	mirror     *mirror.Mirror
	claims     *claims // claims of the mirror; nil: there is no mirror
	closers    []func() error
}

// take reads the configuration of a repository, and locks the repository against other daemons until close.
func (d *daemon) take(r repo.Repo, log *slog.Logger) (err error) {
	d.repo, d.log = r, log
	if d.cfg, err = r.Config(); err != nil {
		return err
	}
	unlock, err := r.Lock()
	if err == nil {
		d.onClose(func() error { unlock(); return nil })
	}
	return err
}

func (d *daemon) onClose(f func() error) { d.closers = append(d.closers, f) }

func (d *daemon) close() error {
	var errs []error
	for i := len(d.closers) - 1; i >= 0; i-- {
		errs = append(errs, d.closers[i]())
	}
	return errors.Join(errs...)
}

func (d *daemon) seed() summary.Seed {
	return summary.Seed{Network: d.cfg.Network.Name, Number: d.cfg.Network.Seed}
}

// closeTime is the longest time to wait for the database to close.
const closeTime = 15 * time.Second

// openStore opens the database, the store in it and the mark of removals, if the disk has room.
func (d *daemon) openStore(ctx context.Context) error {
	begun := time.Now()
	room := roomOn(d.repo.Dir)
	if err := room(0); err != nil {
		return err
	}
	// the database's own files may be read by all, and private keys are in them
	dir := d.repo.Store()
	if err := cmp.Or(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o700)); err != nil {
		return err
	}
	db, err := openPebble(dir, nil, d.cfg.Limits.Cache, d.log)
	if err != nil {
		return err
	}
	d.onClose(func() error { return closePebble(db, closeTime, d.log) })
	if d.store, err = store.Open(ctx, db, d.seed(), store.WithRoom(room), store.WithProgress(d.reads())); err != nil {
		return fmt.Errorf("store %s: %w", dir, err)
	}
	d.onClose(func() error { return d.closed(d.store) })
	if d.removals, err = d.repo.OpenRemovals(d.store.Count()+d.store.Private().Count() == 0); err != nil {
		return err
	}
	d.log.Info("store open", "keys", d.store.Count(), "took", time.Since(begun).Round(time.Millisecond))
	return nil
}

// readsEvery is the time between two lines about the store's progress.
const readsEvery = 2 * time.Second

// reads returns a function that logs progress, with the time left, while the store reads all its keys.
func (d *daemon) reads() func(keys, about int) {
	var begun, said time.Time
	return func(keys, about int) {
		if keys == 0 {
			begun = time.Now()
			said = begun
			d.log.Warn("reading all keys: the store was not closed well, or was restored, or has another seed", "about", about)
			return
		}
		if time.Since(said) < readsEvery {
			return
		}
		said = time.Now()
		rate := float64(keys) / time.Since(begun).Seconds()
		args := []any{"so_far", keys, "a_second", int(rate)}
		if about > keys {
			args = append(args, "left", time.Duration(float64(about-keys)/rate*float64(time.Second)).Round(time.Second))
		}
		d.log.Info("reading all keys", args...)
	}
}

// closed closes a store. All keys are on disk before. If the disk is full, it returns no error: a failed write only
// makes the next start slower.
func (d *daemon) closed(s *store.Store) error {
	err := s.Close()
	if errors.Is(err, syscall.ENOSPC) {
		d.log.Warn("the next start takes longer", "err", err)
		return nil
	}
	return err
}

// listenHTTP opens the sockets for commands and programs, before all other parts. So a port in use ends the daemon
// early, and programs that connect while the store opens have to wait, but are not refused.
func (d *daemon) listenHTTP(ctx context.Context) (err error) {
	if d.control, err = listenSocket(d.repo.Socket()); err != nil {
		return err
	}
	d.onClose(func() error { return ignoreClosed(d.control.Close()) })
	if d.public, err = d.listenAt(ctx, "http", d.cfg.HTTP.Listen); err != nil {
		return err
	}
	d.clients, err = d.listenAt(ctx, "mirror", d.cfg.Mirror.Listen)
	return err
}

// listenAt listens on the address of a section of the configuration. It returns nil if there is no address.
func (d *daemon) listenAt(ctx context.Context, section, address string) (net.Listener, error) {
	if address == "" {
		return nil, nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s.listen: %w; choose another with `venn config set %[1]s.listen HOST:PORT%[3]s`", section, err, d.repo.Option())
	}
	d.onClose(func() error { return ignoreClosed(l.Close()) })
	return l, nil
}

// maxSocketName is the longest name of a Unix socket, in bytes, that all systems accept.
const maxSocketName = 103

// listenSocket listens on a Unix socket that only its owner can open. The caller holds the repository's lock, so an
// existing socket was left by a crash.
func listenSocket(name string) (net.Listener, error) {
	if len(name) > maxSocketName {
		return nil, fmt.Errorf("the name of the socket %s has %d bytes, at most %d work: use a repository with a shorter name", name, len(name), maxSocketName)
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var l net.Listener
	if err := repo.Private(func() (err error) { l, err = net.Listen("unix", name); return err }); err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	return l, nil
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (d *daemon) openNode(ctx context.Context) (err error) {
	d.registry = prometheus.NewRegistry()
	d.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	bootstrap := slices.Clone(d.opts.Bootstrap)
	for _, text := range d.cfg.Discovery.Bootstrap {
		info, err := peer.AddrInfoFromString(text)
		if err != nil {
			return err // cannot be: the configuration was checked
		}
		bootstrap = append(bootstrap, *info)
	}
	opts := []node.Option{
		node.WithStore(d.store), node.WithBootstrap(bootstrap...),
		node.WithNetwork(d.cfg.Network.Name, d.cfg.Network.Seed),
		node.WithBandwidth(uint64(d.cfg.Limits.Up), uint64(d.cfg.Limits.Down)), node.WithSummaryShare(d.cfg.Limits.Share),
		node.WithMaxConnections(d.cfg.Limits.Connections), node.WithMemory(d.cfg.Limits.Memory), node.WithOrigins(d.cfg.Limits.Origins),
		node.WithLogger(d.log), node.WithRegisterer(d.registry),
	}
	if until, ok := d.cfg.Network.Previous(); ok {
		opts = append(opts, node.WithPreviousSeed(d.cfg.Network.PreviousSeed, until))
	}
	if d.cfg.Content.Joins {
		opts = append(opts, node.WithJoins())
	}
	d.node, err = node.New(d.host, opts...)
	if err != nil {
		return err
	}
	d.onClose(d.node.Close)
	d.serving = newServing(d.node.Host(), func() []string { return servedBy(d.repo, d.cfg.Content.ServedBy) })
	d.onClose(d.serving.close)
	if d.cfg.Discovery.MDNS {
		local := mdns.NewMdnsService(d.host, serviceName(d.cfg.Network.Name), found{d.node})
		if err := local.Start(); err != nil {
			d.log.Warn("no multicast DNS: peers on the local network are not found by themselves", "err", err)
			return nil
		}
		d.onClose(local.Close)
	}
	return nil
}

// found gives the peers that multicast DNS finds to the node, as hints.
type found struct{ n *node.Node }

func (f found) HandlePeerFound(p peer.AddrInfo) { f.n.Hint(p) }

// serviceName returns the network's name in multicast DNS. It is a hash, because names there are short and allow few
// characters.
func serviceName(networkName string) string {
	h := fnv.New64a()
	_, _ = io.WriteString(h, networkName)
	return fmt.Sprintf("_venn-%08x._udp", uint32(h.Sum64()^h.Sum64()>>32))
}

// allKeys returns the keys of both stores: first those that the node advertises, then the private ones.
func (d *daemon) allKeys(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, s := range []*store.Store{d.store, d.store.Private()} {
			for key, err := range s.Keys(ctx) {
				if !yield(key, err) {
					return
				}
			}
		}
	}
}

// serve serves the node until ctx ends or one of its servers fails.
func (d *daemon) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	errs := make(chan error, 5)
	run := func(f func() error) {
		wg.Go(func() {
			if err := f(); err != nil {
				errs <- err
				cancel()
			}
		})
	}
	c := httpapi.Config{Node: d.node, Keys: d.allKeys, Add: d.addKeys, Servers: d.serving.servers, Removals: d.removals, Backup: d.store.Backup, Version: d.opts.Version, Registry: d.registry, Log: d.log, Shutdown: cancel, Level: d.opts.Level, Mirror: d.mirrorStatus}
	run(func() error { return httpapi.Serve(ctx, d.control, httpapi.Control(c)) })
	if d.public != nil {
		public, watch := d.withUI(ctx, httpapi.Public(c))
		run(watch)
		run(func() error { return httpapi.Serve(ctx, d.public, httpapi.Guard(public, d.cfg.HTTP.Names...)) })
	}
	if d.mirror != nil {
		run(func() error { return httpapi.Serve(ctx, d.clients, d.mirrorFront()) })
	}
	run(func() error { return d.watch(ctx) })
	if d.opts.Ready != nil {
		d.opts.Ready(d.started())
	}
	d.tell(stateReady)
	<-ctx.Done()
	d.tell(stateStopping)
	wg.Wait()
	close(errs)
	return <-errs
}

// watch waits until ctx ends, or until the node closes itself. It returns why the node did.
func (d *daemon) watch(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-d.node.Done():
		return d.node.Close()
	}
}

// tell sends a state to the service manager. An error is only logged: the daemon goes on.
func (d *daemon) tell(state string) {
	if err := notify(state); err != nil {
		d.log.Warn("the service manager does not hear of it", "state", state, "err", err)
	}
}

func (d *daemon) started() Started {
	here := *host.InfoFromHost(d.host)
	s := Started{ID: here.ID.String(), Addresses: httpapi.Addresses(here, here), Keys: d.store.Count()}
	if d.public != nil {
		s.HTTP = httpapi.URL(d.public)
	}
	if d.clients != nil {
		s.Mirror = httpapi.URL(d.clients)
	}
	return s
}
