package admit

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	"github.com/multiformats/go-multiaddr"
	"github.com/quic-go/quic-go"

	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay/admission"
)

// Door is a resource manager through which inbound connections come to a node's host. Each takes room of its networks,
// half-open ones too, and they pay for the dearest handshake before it begins. What the handshake did not cost comes
// back once the connection is known: see [Table.Bill].
type Door struct {
	network.ResourceManager
	table atomic.Pointer[Table] // of the host's node; nil: handshakes are free

	mu   sync.Mutex
	room *admission.Room // for inbound connections
	next time.Time       // when the next handshake may begin
}

// NewDoor returns a door with room for most inbound connections. In all else it acts as m.
func NewDoor(m network.ResourceManager, most int) *Door {
	return &Door{ResourceManager: m, room: admission.NewRoom(most)}
}

// Guard has the networks of inbound connections pay in the table, from now until end is called. It does nothing
// for a host without a door.
func (t *Table) Guard(n network.Network) (end func()) {
	d, ok := n.ResourceManager().(*Door)
	if !ok {
		return func() {}
	}
	d.table.Store(t)
	return func() { d.table.CompareAndSwap(t, nil) }
}

// errCrowded says that a network has its share of the connections, or of the work of handshakes.
var errCrowded = errors.New("admit: the network has its share of connections")

// OpenConnection refuses an inbound connection of a network that has its share. Addresses without an IP are not
// counted.
func (d *Door) OpenConnection(dir network.Direction, fd bool, a multiaddr.Multiaddr) (network.ConnManagementScope, error) {
	who := admission.Principal{Group: Group(a)}
	if dir != network.DirInbound || who.Group == "" {
		return d.ResourceManager.OpenConnection(dir, fd, a)
	}
	networks := who.Path()[:2] // the resource manager limits the connections of an address
	if !d.enter(networks) {
		return nil, errCrowded
	}
	leave := sync.OnceFunc(func() { d.leave(networks) })
	var pays *Stream
	if t := d.table.Load(); t != nil {
		pays = &Stream{t: t, who: who}
		if !pays.Pay(Handshake) {
			leave()
			return nil, errCrowded
		}
	}
	scope, err := d.ResourceManager.OpenConnection(dir, fd, a)
	if err != nil {
		leave()
		pays.refund(Handshake)
		return nil, err
	}
	if pays != nil {
		d.pace()
	}
	c := &connection{ConnManagementScope: scope, leave: leave}
	c.pays.Store(pays)
	return c, nil
}

// pace waits until the handshakes that began before have had their time of the processors. Without it, a network begins
// all that it can pay at once, and the node's own work waits behind them.
func (d *Door) pace() {
	d.mu.Lock()
	now := time.Now()
	wait := max(0, d.next.Sub(now))
	d.next = now.Add(wait + Handshake/time.Duration(runtime.GOMAXPROCS(0)))
	d.mu.Unlock()
	time.Sleep(wait)
}

// VerifySourceAddress has whoever begins a QUIC connection show first that its address is its own, if the address's
// widest network has a connection, or if half of the room is taken. So nobody takes the share of a network to which it
// does not belong, or more than half of the room by addresses that it makes up.
func (d *Door) VerifySourceAddress(a net.Addr) bool {
	at, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return true
	}
	widest := admission.Principal{Group: admission.Group(at.Addr().AsSlice())}.Path()[0]
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.room.Half() || d.room.Of(widest) > 0 || d.ResourceManager.VerifySourceAddress(a)
}

func (d *Door) enter(networks []string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.room.Take(1, networks...)
}

func (d *Door) leave(networks []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room.Return(1, networks...)
}

// connection is the scope of an inbound connection. It has its room until it is done.
type connection struct {
	network.ConnManagementScope
	leave func()
	pays  atomic.Pointer[Stream] // paid for the handshake; nil: nobody did, or the connection was billed
}

func (c *connection) Done() {
	c.ConnManagementScope.Done()
	c.leave()
}

// Bill makes the peer pay from now on for what it sends on a connection, if the muxer is a [Muxer]. Through a door, it
// gives back what the handshake did not cost, once. refused reports that the connection came through a door, and that
// its peer's key is of a kind that takes long to verify.
func (t *Table) Bill(c network.Conn) (refused bool) {
	var b *billed
	if c.As(&b) {
		b.by.Store(t.Of(c))
	}
	in, ok := c.Scope().(*connection)
	if !ok {
		return false
	}
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
