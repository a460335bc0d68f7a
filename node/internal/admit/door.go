package admit

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/tls"
	"errors"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	"github.com/multiformats/go-multiaddr"
	"github.com/quic-go/quic-go"

	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay/admission"
)

// Door is a resource manager through which inbound connections come to a node's host. Their networks pay for the
// dearest handshake before it begins, and their peers for each stream that they open and for its use. What the handshake
// did not cost comes back once the connection is known: see [Table.Bill]. Each connection has a place, half-open ones
// too. When all are taken, the longest unused one gives way to a network that has fewer, unless its peer is linked.
type Door struct {
	network.ResourceManager
	table  atomic.Pointer[Table] // of the host's node; nil: all is free
	hung   sync.Once             // the door has the host's streams
	most   int                   // most places
	places *admission.Slots      // of inbound connections
	turns  *admission.Slots      // of handshakes: see [Door.Security]
	// quicTurns are turns of handshakes by QUIC: while one waits, the others of its listener do, too.
	quicTurns *admission.Slots
}

// NewDoor returns a door with places for most inbound connections. In all else it acts as m. m must allow twice as many:
// a half-open connection that gives way ends with its handshake, which may take 15 s.
func NewDoor(m network.ResourceManager, most int) *Door {
	turns := func() *admission.Slots { return admission.NewSlots(runtime.GOMAXPROCS(0)) }
	return &Door{ResourceManager: m, most: most, places: admission.NewSlots(most), turns: turns(), quicTurns: turns()}
}

// Guard has the networks of inbound connections pay in the table, and peers for all that they send and are sent on
// streams that they open: see [Table.Paid]. So libp2p's own protocols pay, too. It ends when end is called. It does
// nothing for a host without a door.
func (t *Table) Guard(n network.Network) (end func()) {
	d, ok := n.ResourceManager().(*Door)
	if !ok {
		return func() {}
	}
	t.host = n
	guards, stop := context.WithCancel(context.Background())
	t.guards = guards
	d.table.Store(t)
	d.hung.Do(func() {
		if s, ok := n.(interface{ StreamHandler() network.StreamHandler }); ok {
			handle := s.StreamHandler()
			n.SetStreamHandler(func(s network.Stream) {
				if t := d.table.Load(); t != nil {
					s = t.Paid(t.guards, s)
				}
				handle(s)
			})
		}
	})
	return func() { d.table.CompareAndSwap(t, nil); stop() }
}

// errCrowded says that a network has its share of the connections, or of the work of handshakes.
var errCrowded = errors.New("admit: the network has its share of connections")

// OpenConnection refuses an inbound connection of a network that has its share of the work of handshakes, or of the
// places. Addresses without an IP are not counted. Connections without a file descriptor of their own are by QUIC.
func (d *Door) OpenConnection(dir network.Direction, fd bool, a multiaddr.Multiaddr) (network.ConnManagementScope, error) {
	who := admission.Principal{Group: Group(a)}
	if dir != network.DirInbound || who.Group == "" {
		return d.ResourceManager.OpenConnection(dir, fd, a)
	}
	t := d.table.Load()
	var pays *Stream
	if t != nil {
		pays = &Stream{t: t, who: who}
		if !pays.Pay(Handshake) {
			return nil, errCrowded
		}
	}
	c := &connection{}
	c.pays.Store(pays)
	c.ctx, c.evict = context.WithCancel(context.Background())
	linked := func() bool { p := c.peer.Load(); return p != nil && t != nil && t.linked(*p) }
	if c.place = d.places.Lend(who, linked, c.evict); c.place == nil {
		pays.refund(Handshake - Begin) // for the look at the places
		return nil, errCrowded
	}
	var err error
	if c.ConnManagementScope, err = d.ResourceManager.OpenConnection(dir, fd, a); err != nil {
		c.place.Release()
		pays.refund(Handshake)
		return nil, err
	}
	if !fd && waitTurn(c.ctx, d.quicTurns, who) != nil {
		c.Done()
		pays.refund(Handshake - Begin)
		return nil, errCrowded
	}
	return c, nil
}

// OpenStream has a peer pay for a stream before its protocol is negotiated, whatever the protocol and the transport. While
// the peer cannot pay, the connection's next streams wait, too.
func (d *Door) OpenStream(p peer.ID, dir network.Direction) (network.StreamManagementScope, error) {
	if t := d.table.Load(); t != nil && dir == network.DirInbound {
		pays := t.Peer(t.host, p)
		for wait := pays.ask(Begin); wait > 0 && d.table.Load() == t; wait = pays.ask(Begin) {
			time.Sleep(wait)
			if len(t.host.ConnsToPeer(p)) == 0 {
				return nil, errCrowded
			}
		}
	}
	return d.ResourceManager.OpenStream(p, dir)
}

// VerifySourceAddress has whoever begins a QUIC connection show first that its address is its own, if the address's
// widest network has a connection, or if half of the places are taken. So nobody takes the share of a network to which it
// does not belong, or more than half of the places by addresses that it makes up.
func (d *Door) VerifySourceAddress(a net.Addr) bool {
	who := caller(a)
	if who.Group == "" {
		return true
	}
	widest := who.Path()[0]
	return d.places.Held() >= d.most/2 || d.places.Of(widest) > 0 || d.ResourceManager.VerifySourceAddress(a)
}

// connection is the scope of an inbound connection. It has its place until it is done, or gives way.
type connection struct {
	network.ConnManagementScope
	place *admission.Slot
	ctx   context.Context // ends when the connection gives way
	evict func()
	peer  atomic.Pointer[peer.ID] // nil: the connection is half-open
	pays  atomic.Pointer[Stream]  // paid for the handshake; nil: nobody did, or the connection was billed
}

// SetPeer ends a half-open connection that has given way.
func (c *connection) SetPeer(p peer.ID) error {
	c.peer.Store(&p)
	if c.ctx.Err() != nil {
		return errCrowded
	}
	return c.ConnManagementScope.SetPeer(p)
}

func (c *connection) Done() {
	c.ConnManagementScope.Done()
	c.place.Release()
}

// Bill makes the peer pay from now on for what it sends on a connection, if the muxer is a [Muxer]. Through a door, it
// gives back what the handshake did not cost, once, and has the connection closed when it gives way. refused reports
// that the connection came through a door, and that its peer's key is of a kind that takes long to verify.
func (t *Table) Bill(c network.Conn) (refused bool) {
	var b *billed
	if c.As(&b) {
		b.by.Store(t.Of(c))
	}
	in, ok := c.Scope().(*connection)
	if !ok {
		return false
	}
	context.AfterFunc(in.ctx, func() { _ = c.Close() })
	pays := in.pays.Swap(nil)
	if pays == nil {
		return false
	}
	if signed.CheckKey(c.RemotePublicKey()) != nil {
		return true
	}
	if usual(c) {
		pays.refund(Handshake - UsualHandshake)
	}
	return false
}

// usual reports whether the handshake of a connection is known to be of a usual price: Noise, or TLS whose certificate
// and exchange are none of the dear kinds, in QUIC too.
func usual(c network.Conn) bool {
	var q *quic.Conn
	var b *billed
	switch {
	case c.As(&q):
		return usualTLS(q.ConnectionState().TLS)
	case !c.As(&b):
		return false
	}
	if s, ok := b.Conn.(interface{ ConnectionState() tls.ConnectionState }); ok {
		return usualTLS(s.ConnectionState())
	}
	return c.ConnState().Security == noise.ID
}

func usualTLS(s tls.ConnectionState) bool {
	if s.CurveID == tls.CurveP384 || s.CurveID == tls.CurveP521 || s.CurveID == tls.SecP384r1MLKEM1024 || len(s.PeerCertificates) != 1 {
		return false
	}
	switch k := s.PeerCertificates[0].PublicKey.(type) {
	case ed25519.PublicKey:
		return true
	case *ecdsa.PublicKey:
		return k.Curve == elliptic.P256()
	}
	return false
}
