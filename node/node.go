package node

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/canonicallog"
	"golang.org/x/sync/singleflight"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/node/internal/admit"
	"github.com/venn-p2p/venn/node/internal/counters"
	"github.com/venn-p2p/venn/node/internal/inbox"
	"github.com/venn-p2p/venn/node/internal/mesh"
	"github.com/venn-p2p/venn/node/internal/pipes"
	"github.com/venn-p2p/venn/node/internal/streams"
	"github.com/venn-p2p/venn/node/internal/tasks"
	"github.com/venn-p2p/venn/node/keystore"
	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/admission"
	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/summary"
)

var (
	// ErrClosed says that the node is closed.
	ErrClosed = errors.New("node: closed")
	// ErrFault says that the node has closed itself, because its code is at fault. It is an ErrClosed, too.
	ErrFault = fmt.Errorf("%w by a fault of its own", ErrClosed)
	// ErrKey says that a key is empty or longer than wire.MaxKey.
	ErrKey = errors.New("node: key must have 1 to 1024 bytes")
	// ErrHost says that the host has a node already: a host has room for one.
	ErrHost = errors.New("node: the host has a node already")
	// ErrUnknown says that no summary of the peer is held. Of Disconnect: there is no connection to the peer.
	ErrUnknown = errors.New("node: no summary of the peer")
)

// Node is a peer of the network. It is safe for concurrent use.
type Node struct {
	host   host.Host
	cfg    config
	log    *slog.Logger
	key    crypto.PrivKey
	hasher summary.Hasher
	keys   keystore.Keys

	ctx    context.Context // ends with Close, or with a fault of the loop
	cancel context.CancelCauseFunc
	ended  chan struct{} // closed when the loop has ended
	close  func() error  // closes all, once
	start  time.Time

	tasks       tasks.Group
	in          *inbox.Inbox
	guests      *guests
	links       *core.Links[peer.ID]
	streams     *streams.Node
	counters    *counters.Counters
	metrics     *metrics
	events      *events
	mesh        *mesh.Mesh
	pipes       *pipes.Pipes // streams of tails
	sample      keySample
	joining     *admission.Slots                   // places for joins that are served
	dials       [len(dialsAtOnce)]*admission.Slots // places for connections that are being made
	hinted      *admission.Slots                   // places for hinted peers that are being dialled
	snapshot    atomic.Pointer[snapshot]
	lastRecords map[wire.PeerID][]byte // signed records held in the last run
	moved       atomic.Bool            // the host's addresses have changed since the loop last looked
	unannounced unannounced
	faults      faults             // errors of the key store
	looks       singleflight.Group // probes of connections that may be dead
	closing     *recent[peer.ID]   // peers whose connection this node has closed
	parted      *recent[peer.ID]   // peers whose links were lost
	silent      *recent[string]    // addresses where nobody answered
	logged      *recent[string]    // lines of the log that are not repeated
	begun       chan struct{}      // closed when the first dials were tried
}

// New starts a node on a host, which stays the caller's: Close does not close it. The host's peerstore must have its
// private key. The node tags the peers that it is linked with in the host's connection manager, and protects its
// neighbours there. It closes only connections that it made and that nothing else uses. Its pubsub has protocols of its
// own, so that another may run on the host. It returns at once, apart from the time that a store of WithDatastore takes
// to open. Begun tells when the first dials are over. Errors: options out of range, all of them; ErrHost; no private
// key, or one that signed.CheckKey refuses; metrics that are registered already; refusals of the store, package overlay
// or pubsub.
func New(h host.Host, opts ...Option) (*Node, error) {
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	if h == nil {
		return nil, errors.New("node: no host")
	}
	if of, ok := h.(*guests); ok { // of a node that has ended
		h = of.Host
	}
	if slices.ContainsFunc(h.Mux().Protocols(), isHello) {
		return nil, ErrHost
	}
	key := h.Peerstore().PrivKey(h.ID())
	if key == nil {
		return nil, fmt.Errorf("node: no private key of %s in the peerstore", h.ID())
	}
	if err := signed.CheckKey(key.GetPublic()); err != nil {
		return nil, fmt.Errorf("node: the key of the host: %w", err)
	}
	n := &Node{
		host:     h,
		cfg:      cfg,
		log:      cfg.log.With("id", h.ID()),
		key:      key,
		hasher:   cfg.seed.Hasher(),
		start:    time.Now(),
		in:       inbox.New(),
		links:    core.NewLinks[peer.ID](cfg.maxConnections),
		counters: counters.New(cfg.limits.Offences),
		metrics:  newMetrics(),
		closing:  newRecent[peer.ID](closingTime, maxClosing),
		parted:   newRecent[peer.ID](partedTime, maxParted),
		silent:   newRecent[string](silentTime, maxSilent),
		begun:    make(chan struct{}),
		logged:   newRecent[string](loggedAgain, mostLogged),
		ended:    make(chan struct{}),
	}
	n.guests, n.hinted = &guests{Host: h, n: n}, admission.NewSlots(maxHints)
	for i, most := range dialsAtOnce {
		n.dials[i] = admission.NewSlots(most)
	}
	n.ctx, n.cancel = context.WithCancelCause(context.Background())
	n.close = sync.OnceValue(n.closeAll)
	if err := n.open(); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

// open opens the store, makes the core, and starts everything.
func (n *Node) open() (err error) {
	if err := n.cfg.openStore(n.ctx); err != nil {
		return err
	}
	n.keys = n.cfg.keys
	n.lastRecords = n.cfg.lastRecords()
	if n.events, err = newEvents(n.host, n.counters); err != nil {
		return err
	}
	l := newLoop(n)
	c := core.Config{Overlay: n.overlayConfig(), Routing: l.routingConfig(), Tails: l.tailsConfig()}
	if change := n.cfg.limits.Core; change != nil {
		change(&c)
	}
	if l.core, err = core.New(c); err != nil {
		return err
	}
	return n.run(l)
}

// run starts the listeners, and the loop.
func (n *Node) run(l *loop) error {
	n.streams = n.newStreams()
	n.joining = admission.NewSlots(joinsAtOnce)
	n.mesh = n.newMesh()
	n.pipes = n.newPipes()
	if err := n.mesh.Start(); err != nil {
		n.cfg.registerer = nil
		return err
	}
	if n.cfg.registerer != nil { // after the mesh, whose outbox is measured
		if err := n.cfg.registerer.Register(collector{n}); err != nil {
			n.cfg.registerer = nil
			return fmt.Errorf("node: metrics: %w", err)
		}
	}
	for id, handle := range n.handlers() {
		for _, version := range n.versions(id) {
			n.host.SetStreamHandler(version, n.streams.Served(id, handle))
		}
	}
	if err := n.watch(); err != nil {
		return err
	}
	n.tasks.Run(l.run)
	if n.cfg.store != nil {
		n.tasks.Run(n.savePeers)
	}
	begin, err := n.keys.Len()
	if err := n.noted(reading, err); err != nil {
		return err
	}
	n.unannounced.begin(begin)
	return nil
}

func (n *Node) handlers() map[protocol.ID]func(*streams.Stream) error {
	all := map[protocol.ID]func(*streams.Stream) error{
		HelloID: serve(wire.MaxHello, wire.ParseHello, helloPrice, n.serveHello),
		HaveID:  serve(wire.MaxHave, wire.ParseHaveRequest, havePrice, n.serveHave),
		QueryID: serve(wire.MaxQuery, wire.ParseQuery, priced[wire.Query](admit.Key), n.serveQuery),
		PartsID: serve(wire.MaxPartsRequest, wire.ParsePartsRequest, priced[wire.PartsRequest](0), n.serveParts),
		PeersID: serve(wire.MaxInquiry, wire.ParseInquiry, priced[wire.Inquiry](admit.Inquiry), n.servePeers),
		TailsID: n.pipes.Serve,
	}
	if n.cfg.joins {
		all[JoinID] = serve(wire.MaxJoinRequest, wire.ParseJoinRequest, n.joinPrice, n.serveJoin)
	}
	return all
}

// versions returns the ids of a protocol in the node's network, the newest version first.
func (n *Node) versions(id protocol.ID) (ids []protocol.ID) {
	for _, version := range append(slices.Clone(n.cfg.later[id]), id) {
		ids = append(ids, wire.ProtocolIn(n.cfg.seed.Network, version))
	}
	return ids
}

// says reports whether the given protocols contain the hello protocol of the node's network.
func (n *Node) says(protocols []protocol.ID) bool {
	return slices.ContainsFunc(n.versions(HelloID), func(id protocol.ID) bool { return slices.Contains(protocols, id) })
}

func (n *Node) newStreams() *streams.Node {
	return &streams.Node{
		Host:     n.host,
		Service:  ServiceName,
		Versions: n.versions,
		Done:     n.ctx,
		Log:      n.log,
		Tasks:    &n.tasks,
		Counters: n.counters,
		Admit:    n.newAdmission(),
		Use:      n.use,
		Relayed:  func(id protocol.ID) bool { return id == HelloID || id == HaveID || id == QueryID },
		Refuse:   n.offended,
		Lasting:  func(id protocol.ID) bool { return id == TailsID },
		Barred:   n.barred,
		MayAsk:   n.cfg.mayTake,
		Patience: n.patience,
		Quiet:    n.quiet,
	}
}

func (n *Node) newPipes() *pipes.Pipes {
	return pipes.New(pipes.Config{
		Streams: n.streams,
		ID:      TailsID,
		Limit:   wire.MaxTails,
		Within:  streams.TransferTime, // on a slow link, earlier tails may wait unread
		Done:    n.ctx,
		Tasks:   &n.tasks,
		Lost:    n.lostTails,
		Take:    n.takeTails,
	})
}

func (n *Node) newMesh() *mesh.Mesh {
	return mesh.New(mesh.Config{
		Host:     n.host,
		Topic:    Topic(n.cfg.seed.Network),
		Done:     n.ctx,
		Log:      n.log,
		Tasks:    &n.tasks,
		Counters: n.counters,
		Inbox:    n.in,
		Now:      n.now,
		Admit:    n.streams.Admit,
		Linked:   n.links.Linked,
		Barred:   n.barred,
		Link:     func(p peer.ID) bool { return n.admit(p, false) == nil },
		Refuse:   n.offended,
		Options:  n.cfg.pubsub,
	})
}

func (n *Node) overlayConfig() overlay.Config {
	c := n.cfg.overlay
	c.Self, c.Seed = wire.PeerID(n.host.ID()), n.cfg.seed.Tag()
	c.MaxLinks, c.SpreadLinks = n.cfg.neighbourLinks(), n.cfg.spreadLinks()
	c.OpenHeader, c.Keep = n.cfg.headers.Header, n.cfg.headers.Keep
	c.OpenRecord, c.Newest, c.Group = n.recordPeer, n.newest, n.addressGroup
	c.Cache, c.Rand = n.cfg.cache, rand.New(rand.NewPCG(n.cfg.random, 1))
	if p := n.cfg.previous; p != nil {
		c.Previous, c.PreviousUntil = p.Seed, p.until.Sub(n.start)
	}
	return c
}

// addressGroup returns the address group of a record's peer. It is "" for the peers of WithBootstrap: they were
// configured, and are no strangers.
func (n *Node) addressGroup(r wire.Record) string {
	if slices.ContainsFunc(n.cfg.bootstrap, func(p peer.AddrInfo) bool { return wire.PeerID(p.ID) == r.Peer }) {
		return ""
	}
	return signed.AddressGroup(r)
}

func (l *loop) tailsConfig() tails.Config {
	return tails.Config{
		Sign:    l.n.key.Sign,
		Verify:  l.verified,
		Hides:   l.n.hides,
		Sending: l.sendingTo,
	}
}

func (l *loop) routingConfig() routing.Config {
	return routing.Config{
		Self:        wire.PeerID(l.n.host.ID()),
		Has:         l.hasChecked,
		Fingerprint: l.n.hasher.Fingerprint,
		Rand:        rand.New(rand.NewPCG(l.n.cfg.random, 2)),
	}
}

// Close ends the node and everything it started, and takes its tags and protections from the host's connection manager.
// It closes no connection, and not the host. It first tells the linked peers, which takes up to 0.2 s, that the node
// holds nothing any more. The errors: the store's, with WithDatastore, and ErrFault if the node had ended by itself.
// Every call returns the same error.
func (n *Node) Close() error { return n.close() }

// Done returns a channel that is closed when the node ends: when Close is called, or by a fault of the node's own.
// After a fault the node closes itself, and Close, Status and all other calls return ErrFault.
func (n *Node) Done() <-chan struct{} { return n.ctx.Done() }

// closeAll does the work of Close, once.
func (n *Node) closeAll() error {
	if n.mesh != nil {
		n.saveKnown()
		n.goodbye()
	}
	n.tasks.Close()
	for id := range n.handlers() {
		for _, version := range n.versions(id) {
			n.host.RemoveStreamHandler(version)
		}
	}
	if n.mesh != nil {
		n.mesh.Close()
	}
	n.cancel(ErrClosed)
	n.tasks.Wait()
	if n.mesh != nil {
		n.mesh.End()
	}
	if n.events != nil {
		n.events.close()
	}
	if n.cfg.registerer != nil {
		n.cfg.registerer.Unregister(collector{n})
	}
	err := n.closeStore()
	if cause := context.Cause(n.ctx); errors.Is(cause, ErrFault) {
		err = errors.Join(cause, err)
	}
	return err
}

// now returns the present time on the core's clock.
func (n *Node) now() time.Duration { return time.Since(n.start) }

// refuse counts a refusal. It blames the peer that caused it, in pubsub and, now and then, in the log for firewalls.
func (n *Node) refuse(p peer.ID, reason string, err error) {
	n.mesh.Blame(p)
	silent, loud := n.counters.Blame(p, reason, time.Now())
	if !loud {
		return
	}
	if silent > 0 {
		reason = fmt.Sprintf("%s, and %d refusals before that were not logged", reason, silent)
	}
	known := n.host.Peerstore().Addrs(p)
	if c := n.host.Network().ConnsToPeer(p); len(c) > 0 {
		canonicallog.LogMisbehavingPeer(p, c[0].RemoteMultiaddr(), ServiceName, err, reason)
	} else if len(known) > 0 {
		canonicallog.LogMisbehavingPeer(p, known[0], ServiceName, err, reason)
	}
}

// unread counts a refusal if err shows that a peer's answer is malformed. An answer of a later version is no fault.
func (n *Node) unread(p peer.ID, id protocol.ID, err error) {
	if reason, bad := counters.Fault(err); bad {
		n.refuse(p, string(id)+" answer "+reason, err)
	}
}

// barred reports whether a peer is not served: by the owner's filter, or for misbehaviour on streams.
func (n *Node) barred(p peer.ID) bool {
	return !n.cfg.mayTake(p) || n.counters.Bad(p, time.Now())
}

// offended notes that a peer sent something that no peer should. A peer that does so again and again loses its link,
// and is not served. Its connections, also new ones while it is barred, are closed unless somebody else uses them.
func (n *Node) offended(p peer.ID, reason string, err error) {
	n.refuse(p, reason, err)
	if n.counters.Offended(p, time.Now()) {
		n.hangUp(p)
	}
}

// Host returns the host that the node runs on, as protocols beside the node's should use it: a mirror's, or the caller's
// own. Connections are not idle while such a protocol has a stream. A new stream makes the node dial, if need be, by the
// peer's signed record alone. A peer that the node bars (WithPeerFilter, misbehaviour) gets no stream, and loses those
// that are open within a second or two. Others pay for what is read from the streams that they open, and for each write,
// out of their share of the node's work. The host's event bus has the node's events: EvtSummaryLearned, EvtLinkOpened and
// others.
func (n *Node) Host() host.Host { return n.guests }

// ID returns the host's peer id.
func (n *Node) ID() peer.ID { return n.host.ID() }

func (n *Node) alive(ctx context.Context) error {
	if n.ctx.Err() != nil {
		return context.Cause(n.ctx)
	}
	return ctx.Err()
}

// Len returns the number of keys held, without those of AddPrivate. It asks the key store, which may read a disk. It
// returns 0 if the key store fails; then Status.Fault has the error.
func (n *Node) Len() int {
	held, err := n.keys.Len()
	if n.noted(reading, err) != nil {
		return 0
	}
	return held
}

// Fingerprints yields the fingerprints of the keys that Len counts, in no order, each once. To go through them takes
// time linear in the keys.
func (n *Node) Fingerprints() iter.Seq[summary.Fingerprint] { return n.keys.Fingerprints() }
