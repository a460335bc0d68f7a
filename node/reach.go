package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	libp2p "github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/node/internal/admit"
	"github.com/venn-p2p/venn/node/internal/inbox"
	"github.com/venn-p2p/venn/node/internal/links"
	"github.com/venn-p2p/venn/node/internal/streams"
	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay/admission"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// dialTime is the longest time that a dial by a record may take.
const dialTime = 5 * time.Second

// handshakeTime is the longest time that a dial for a search of others may take.
const handshakeTime = time.Second

// errand is the purpose of a dial. Each kind of turn has its own places for dials, so that no kind waits for another.
type errand struct {
	turns         turns
	within        time.Duration       // longest time of the dial
	questionsOnly bool                // the connection serves only questions and becomes no link
	private       bool                // private addresses may be dialled wherever this host is
	owner         admission.Principal // principal whose share of the dials it takes; zero: this node
}

// turns names a set of places for dials: see dialsAtOnce.
type turns int

const (
	ownTurns    turns = iota // queries, and the caller's calls
	upkeepTurns              // dials that can wait
	otherTurns               // searches for others
)

// dialsAtOnce is the largest number of dials under way at a time, by the kind of turn.
var dialsAtOnce = [...]int{ownTurns: 8, upkeepTurns: 2, otherTurns: 4}

// ofHints is the principal of dials that follow from hints. They don't take the places that this node needs.
var ofHints = admission.Principal{Peer: "hints"}

var (
	forCaller  = errand{turns: ownTurns, within: streams.OpenTime}
	forQuery   = errand{turns: ownTurns, within: dialTime, questionsOnly: true}
	forLink    = errand{turns: upkeepTurns, within: dialTime}
	forInquiry = errand{turns: upkeepTurns, within: dialTime, questionsOnly: true}
	forHint    = errand{turns: upkeepTurns, within: dialTime, private: true, owner: ofHints}
)

// errandOf returns the purpose of a query's question: the caller's query, or a search for another peer.
func errandOf(q event.Ask) errand {
	if q.Owner == (admission.Principal{}) {
		return forQuery
	}
	return errand{turns: otherTurns, within: handshakeTime, questionsOnly: true, owner: q.Owner}
}

const (
	silentTime = 10 * time.Second // time for which searches of others do not dial an address where a dial got no answer
	maxSilent  = 1 << 10          // most of these addresses that are remembered
)

// errDial says that a peer cannot be reached by its record.
var errDial = errors.New("node: not reached")

// errUnrecorded says that no record of a peer is known, which is not the peer's fault.
var errUnrecorded = errors.New("node: no record")

// errParted says that a link has ended before it was used.
var errParted = errors.New("node: no link any more")

var errFull = errors.New("node: too many links")

// reach connects to the peer of a record, at the addresses that the record certifies, unless there is a connection.
func (n *Node) reach(ctx context.Context, r wire.Record, e errand) error {
	if n.reached(peer.ID(r.Peer)) {
		return nil
	}
	if len(r.Envelope) == 0 {
		return fmt.Errorf("%w: %w", errDial, errUnrecorded)
	}
	info, err := n.record(r.Envelope)
	if err != nil {
		return err
	}
	if info.ID != peer.ID(r.Peer) {
		return fmt.Errorf("%w: record of %s, not of %s", signed.ErrSignature, info.ID, peer.ID(r.Peer))
	}
	if err = n.dialFew(ctx, info, e); err != nil && !errors.Is(err, errFull) {
		err = fmt.Errorf("%w: %w", errDial, err)
	}
	return err
}

// dialFew dials a peer at a few of the given addresses, and at none that it said by identify.
func (n *Node) dialFew(ctx context.Context, info peer.AddrInfo, e errand) error {
	if info.Addrs = n.dialable(info.Addrs, e.private); len(info.Addrs) == 0 {
		return fmt.Errorf("node: no address of %s may be dialled", info.ID)
	}
	for _, a := range info.Addrs {
		if relay, ok := n.relayOf(a); ok && hasRelay(a) && !n.reached(relay.ID) {
			_ = n.dial(ctx, relay, e) // the relay's connection needs room, too, and is closed like any other
		}
	}
	if !n.reached(info.ID) {
		links.Forget(n.host.Peerstore(), info.ID)
	}
	return n.dial(ctx, info, e)
}

// notSilent returns the addresses without those at which a recent dial got no answer.
func (n *Node) notSilent(addrs []ma.Multiaddr) []ma.Multiaddr {
	silent := func(a ma.Multiaddr) bool { return n.silent.was(string(a.Bytes()), time.Now()) }
	return slices.DeleteFunc(slices.Clone(addrs), silent)
}

// reached reports whether there is a connection to a peer, if only by a relay.
func (n *Node) reached(p peer.ID) bool {
	c := n.host.Network().Connectedness(p)
	return c == network.Connected || c == network.Limited
}

// own reports whether a protocol is one of the node's, or a guest.
func (n *Node) own(id string) bool {
	return strings.HasPrefix(id, "/venn/") || n.guests.has(protocol.ID(id))
}

// foreign reports whether somebody besides the node, its pubsub and its guests uses the connections with a peer. An
// offender keeps no connection by streams that it has opened.
func (n *Node) foreign(p peer.ID) bool {
	offender := n.counters.Bad(p, time.Now())
	return links.Foreign(n.host, p, Topic(n.cfg.seed.Network), func(s network.Stream) bool {
		return n.own(string(s.Protocol())) || offender && s.Stat().Direction == network.DirInbound
	})
}

// use records that a stream with a peer is open, until the returned function is called.
func (n *Node) use(p peer.ID, inbound bool) (done func()) {
	unused := n.links.Use(p, inbound)
	return func() { unused(n.now()) }
}

// letGo ends the link with an evicted peer. If this node made the connection, it hangs up, else it tells the peer.
func (n *Node) letGo(e core.Evicted[peer.ID]) {
	switch {
	case e.Peer == "":
		return
	case e.Made:
		n.counters.Drop("connections")
		n.tasks.Run(func() { n.hangUp(e.Peer) })
	default:
		n.in.LinkDropped(e.Peer)
		n.part(e.Peer)
	}
}

// hangUp ends the link with a peer, if there is one. It closes the connections, unless somebody else uses them: then
// they are the host's, and guests use them, too, unless the peer is barred.
func (n *Node) hangUp(p peer.ID) {
	n.links.Closed(p)
	n.in.LinkDropped(p)
	links.Release(n.host, p)
	if n.barred(p) {
		for _, s := range n.guests.open(p) {
			_ = s.Reset()
		}
	}
	if !n.foreign(p) {
		n.closing.note(p, time.Now())
		_ = n.host.Network().ClosePeer(p)
	}
}

// dial connects when there is room for a connection, or an idle one to replace, and a place for the dial. For searches
// of others, it dials no address where a recent dial got no answer, whatever peer is said to be there.
func (n *Node) dial(ctx context.Context, info peer.AddrInfo, e errand) error {
	if !n.cfg.mayTake(info.ID) {
		return fmt.Errorf("%w: %s", streams.ErrFiltered, info.ID)
	}
	ctx, yield := context.WithCancelCause(ctx)
	defer yield(nil)
	turn, err := admit.Wait(ctx, n.dials[e.turns], e.owner, func() { yield(errFull) })
	if err != nil {
		return errFull
	}
	defer turn.Release()
	ctx, cancel := context.WithTimeout(ctx, e.within)
	defer cancel()
	if e.turns == otherTurns {
		if info.Addrs = n.notSilent(info.Addrs); len(info.Addrs) == 0 {
			return errFull
		}
	}
	if e.turns == ownTurns { // the core knows when a peer that failed may be asked again
		links.Forgive(n.host, info.ID)
	}
	for {
		if n.reached(info.ID) {
			return nil
		}
		if n.links.Dial(info.ID, e.questionsOnly, n.now()) {
			quiet := time.AfterFunc(usualPatience, func() { n.unresponsive(info.ID) })
			err := n.connectHost(network.WithAllowLimitedConn(ctx, ServiceName), info, e)
			quiet.Stop()
			if errors.Is(err, context.DeadlineExceeded) {
				for _, a := range info.Addrs {
					if !links.Failed(n.host, info.ID, a) { // else somebody answered there, though not this peer
						n.silent.note(string(a.Bytes()), time.Now())
					}
				}
			}
			made := err == nil || n.opened(info.ID) // the peer is there, and only slow to identify itself
			n.letGo(n.links.Dialed(info.ID, made, n.now()))
			if !n.reached(info.ID) { // the connection closed before the table had it
				n.links.Closed(info.ID)
				if errors.Is(context.Cause(ctx), errFull) {
					err = errFull
				}
				return err
			}
			return nil
		}
		if pause(ctx, 5*roomPause); ctx.Err() != nil {
			return errFull
		}
	}
}

// connectHost connects the host. If the other end dials at the same moment, both dials fail. Then one end dials again at
// once, and the other end only after a short time.
func (n *Node) connectHost(ctx context.Context, info peer.AddrInfo, e errand) error {
	connect := n.host.Connect
	if e.questionsOnly {
		connect = n.connectSoon
	}
	err := connect(ctx, info)
	if !links.Crossed(err) {
		return err
	}
	if pause(ctx, links.Turn(n.host.ID(), info.ID)); ctx.Err() != nil {
		return err
	}
	links.Forgive(n.host, info.ID)
	return connect(ctx, info)
}

// connectSoon connects the host, and does not wait until the peer has said by identify what it speaks: a question needs
// not know, and identify takes a round trip.
func (n *Node) connectSoon(ctx context.Context, info peer.AddrInfo) error {
	n.host.Peerstore().AddAddrs(info.ID, info.Addrs, peerstore.TempAddrTTL)
	_, err := n.host.Network().DialPeer(ctx, info.ID)
	return err
}

// dialed is the result of an event.Connect.
type dialed struct {
	peer peer.ID
	err  error
}

// connect makes a connection that is to be a link.
func (n *Node) connect(r wire.Record) {
	ctx, cancel := context.WithTimeout(n.ctx, streams.OpenTime)
	defer cancel()
	n.in.Result(n.ctx, dialed{peer.ID(r.Peer), n.reach(ctx, r, forLink)})
}

func (l *loop) dialed(d dialed) {
	if d.err == nil {
		d.err = l.link(d.peer, true, true)
	}
	if d.err == nil {
		l.setNeighbour(d.peer, true)
		return
	}
	l.n.log.Debug("no connection", "peer", d.peer, "err", d.err)
	l.step(event.DialFailed{Peer: wire.PeerID(d.peer), Here: errors.Is(d.err, errFull)})
}

// setNeighbour records whether a linked peer is a neighbour. The connection of a neighbour is kept; that of another
// peer may end when nothing else needs it.
func (l *loop) setNeighbour(p peer.ID, is bool) {
	link := l.links[p]
	if link == nil {
		return
	}
	l.n.links.Need(p, is)
	links.Keep(l.n.host, p, is)
	switch {
	case is && !link.neighbour:
		l.n.events.emit(EvtNeighbourChosen{p})
	case !is && link.neighbour:
		l.n.events.emit(EvtNeighbourDropped{p})
	}
	link.neighbour = is
}

// giveUp ends a link, and hangs up if this node made the connection.
func (l *loop) giveUp(p peer.ID) {
	made := l.n.links.Made(p)
	l.unlink(p)
	if made {
		l.n.links.Closed(p)
		l.n.tasks.Run(func() { l.n.hangUp(p) })
	}
}

// closeStale ends links and connections made by the node that have been idle for too long and that nothing needs. It
// hangs up on peers that have come to be barred, or whose connection somebody else has used until now.
func (l *loop) closeStale(now time.Duration) {
	for _, p := range l.n.links.Stale(now) {
		if len(l.n.guests.open(p)) == 0 {
			l.giveUp(p)
		}
	}
	for _, p := range l.n.host.Network().Peers() {
		if l.n.barred(p) && (!l.n.foreign(p) || len(l.n.guests.open(p)) > 0) {
			l.n.tasks.Run(func() { l.n.hangUp(p) })
		}
	}
	l.forgetReplies()
}

// Bounds of the pause between dials of bootstrap peers that are not connected. The pause does not grow while there is
// no link, and is over at once when a link to a bootstrap peer is lost. A node with links dials them, too: its links
// may all be with a part of the network that has lost the rest.
const (
	rejoinLeast = 5 * time.Second
	rejoinMost  = 10 * time.Minute
)

// rejoin calls bootstrap when its pause is over.
func (l *loop) rejoin() {
	now := l.n.now()
	if len(l.links) == 0 {
		l.rejoins.Shorten(rejoinLeast)
	}
	if now >= l.rejoins.End() {
		l.rejoins.Begin(now, rejoinLeast, rejoinMost)
		l.bootstrap()
	}
}

const (
	fewLinks = 4  // with fewer links, a node dials a newly hinted peer at once
	maxHints = 16 // hinted peers remembered, the latest, and dialled at a time
)

// entrance is a peer by which the node may come into the network.
type entrance struct {
	id   peer.ID
	dial func(context.Context) error
}

// Hint names a peer that may be online, such as one found on the local network. A node with fewer than four links dials
// a newly named peer at once. The node remembers the last 16. While it has no link, it dials them as often as the peers of
// WithBootstrap. It dials only addresses by IP, eight of a peer at most. Hint takes one turn of the loop.
func (n *Node) Hint(p peer.AddrInfo) { _ = n.view(n.ctx, func(l *loop) { l.hint(n.entrance(p)) }) }

// entrance returns a hinted peer. Hints beyond maxHints at a time are not dialled: there may be any number.
func (n *Node) entrance(p peer.AddrInfo) entrance {
	return entrance{p.ID, func(ctx context.Context) error {
		place := n.hinted.Take(ofHints, func() {})
		if place == nil {
			return errFull
		}
		defer place.Release()
		return n.dialFew(ctx, p, forHint)
	}}
}

func (l *loop) hint(e entrance) {
	others := slices.DeleteFunc(l.hints, func(o entrance) bool { return o.id == e.id })
	if known := len(others) < len(l.hints); !known && len(l.links) < fewLinks {
		l.begin([]entrance{e})
	}
	l.hints = append(others, e)
	l.hints = l.hints[max(0, len(l.hints)-maxHints):]
}

// bootstrap begins to connect to the bootstrap peers and, while there is no link, to the hinted peers and to the next
// peers of the last run.
func (l *loop) bootstrap() *sync.WaitGroup {
	var all []entrance
	for _, info := range l.n.cfg.bootstrap {
		all = append(all, entrance{info.ID, func(ctx context.Context) error { return l.n.dial(ctx, info, forCaller) }})
	}
	if len(l.links) == 0 {
		next := slices.Clone(l.warm[:min(len(l.warm), maxWarm)])
		l.warm = append(l.warm[len(next):], next...)
		all = append(append(all, l.hints...), next...)
	}
	return l.begin(all)
}

// begin begins to dial peers, and to make links of the connections. While the node has no link, connections that exist
// already become links, too. The group returned ends with the dials.
func (l *loop) begin(all []entrance) *sync.WaitGroup {
	var dials sync.WaitGroup
	for _, e := range all {
		if e.id == l.n.host.ID() || len(l.links) > 0 && l.n.reached(e.id) {
			continue
		}
		dials.Add(1)
		run := func() {
			defer dials.Done()
			ctx, cancel := context.WithTimeout(l.n.ctx, streams.OpenTime)
			defer cancel()
			if err := e.dial(ctx); err != nil {
				l.n.log.Debug("bootstrap", "peer", e.id, "err", err)
				l.n.in.Result(l.n.ctx, unreached{e.id, err})
				return
			}
			l.n.in.LinkWanted(e.id)
		}
		if !l.n.tasks.Run(run) {
			dials.Done()
		}
	}
	return &dials
}

// Begun is closed when the node has tried to connect to its bootstrap peers and to the peers of its last run.
func (n *Node) Begun() <-chan struct{} { return n.begun }

// eventsWaiting is the number of events of the host that may wait: with more, the sender waits, such as identify.
const eventsWaiting = 256

// watch begins to watch the host's connections, and makes the existing ones known to the node.
func (n *Node) watch() error {
	sub, err := n.host.EventBus().Subscribe([]any{
		new(libp2p.EvtPeerIdentificationCompleted), new(libp2p.EvtPeerProtocolsUpdated),
		new(libp2p.EvtLocalAddressesUpdated), new(libp2p.EvtLocalProtocolsUpdated),
	}, eventbus.BufSize(eventsWaiting))
	if err != nil {
		return fmt.Errorf("node: events: %w", err)
	}
	notifiee := &notifiee{n}
	n.host.Network().Notify(notifiee)
	for _, c := range n.host.Network().Conns() {
		notifiee.Connected(n.host.Network(), c)
		if got, err := n.host.Peerstore().GetProtocols(c.RemotePeer()); err == nil {
			n.speaks(c.RemotePeer(), got)
		}
	}
	n.tasks.Run(func() {
		defer func() { _ = sub.Close() }()
		defer n.host.Network().StopNotify(notifiee)
		for {
			select {
			case <-n.ctx.Done():
				return
			case ev := <-sub.Out():
				switch ev := ev.(type) {
				case libp2p.EvtLocalAddressesUpdated:
					n.readdressed(ev)
				case libp2p.EvtLocalProtocolsUpdated:
					n.punches(ev)
				case libp2p.EvtPeerIdentificationCompleted:
					if n.speaks(ev.Peer, ev.Protocols) {
						n.replaced(ev.Peer, ev.Conn)
					}
				case libp2p.EvtPeerProtocolsUpdated:
					if n.links.Linked(ev.Peer) { // others are met when they are linked
						n.mesh.Updated(ev)
					}
					n.speaks(ev.Peer, ev.Added)
				}
			}
		}
	})
	return nil
}

// speaks handles protocols that a peer speaks, and reports whether they show it to be of the node's network. A peer of
// another network is counted as refused.
func (n *Node) speaks(p peer.ID, protocols []protocol.ID) bool {
	if n.says(protocols) {
		n.identified(p)
		return true
	}
	if slices.ContainsFunc(protocols, isHello) && n.ofOtherNetwork(p) {
		n.counters.Refuse("network")
		n.logOnce("network"+string(p), func() { n.log.Info("peer of another network", "peer", p, "bootstrap", n.cfg.isBootstrap(p)) })
	}
	return false
}

// ofOtherNetwork reports whether a peer says hello, but not in the node's network.
func (n *Node) ofOtherNetwork(p peer.ID) bool {
	protocols, err := n.host.Peerstore().GetProtocols(p)
	return err == nil && slices.ContainsFunc(protocols, isHello) && !n.says(protocols)
}

// identified makes a link of a connection that we opened to a peer that says hello, unless the connection serves only
// questions. On a connection that the other end opened, that end says hello first, if it is to be a link.
func (n *Node) identified(p peer.ID) {
	if n.links.QuestionsOnly(p) {
		return
	}
	if n.opened(p) {
		n.in.LinkChanged(p, inbox.Begun)
	}
}

// opened reports whether there is a connection to a peer that this host opened.
func (n *Node) opened(p peer.ID) bool {
	return slices.ContainsFunc(n.host.Network().ConnsToPeer(p), func(c network.Conn) bool {
		return c.Stat().Direction == network.DirOutbound
	})
}

// notifiee tells the node of connections that begin and end.
type notifiee struct{ n *Node }

// Connected ends a link whose peer comes back after its last connection closed, before the node has noted the end. The
// new connection begins without a link. No stream of it is served before Connected returns. But on a busy machine the
// link of the new connection may have begun: that link stays.
func (f *notifiee) Connected(net network.Network, c network.Conn) {
	p := c.RemotePeer()
	if f.n.streams.Admit.Bill(c) {
		f.n.counters.Refuse("key")
		f.n.tasks.Run(func() { _ = c.Close() })
	}
	if f.n.barred(p) {
		f.n.counters.Refuse("offender")
		f.n.tasks.Run(func() { f.n.hangUp(p) })
	}
	lasts := func(other network.Conn) bool { return other != c && !other.IsClosed() }
	if f.n.links.LinkedBefore(p, c.Stat().Opened.Sub(f.n.start)) && !slices.ContainsFunc(net.ConnsToPeer(p), lasts) {
		f.n.links.Closed(p)
		f.n.in.LinkDropped(p)
	}
}

func (f *notifiee) Disconnected(_ network.Network, c network.Conn) {
	p := c.RemotePeer()
	if f.n.reached(p) {
		return
	}
	f.n.links.Closed(p)
	f.n.in.LinkChanged(p, inbox.Ended)
}

func (f *notifiee) Listen(network.Network, ma.Multiaddr)      {}
func (f *notifiee) ListenClose(network.Network, ma.Multiaddr) {}
