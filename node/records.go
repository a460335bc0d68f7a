package node

import (
	"slices"
	"strings"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay/wire"
)

// record opens a signed record of another peer. It keeps only addresses by IP, because a name would make this host look
// up, and dial, whatever the signer likes. The owner's filter chooses among these addresses.
func (n *Node) record(envelope []byte) (peer.AddrInfo, error) {
	r, err := n.cfg.headers.Record(envelope)
	r.Addrs = n.cfg.addresses(byIP(r.Addrs))
	return r.AddrInfo, err
}

// recordPeer returns the peer of a signed record, for the core.
func (n *Node) recordPeer(envelope []byte) (wire.PeerID, error) {
	r, err := n.cfg.headers.Record(envelope)
	return wire.PeerID(r.ID), err
}

// newest returns the newest of three records of a peer: the one that came, the one held, and the last run's. A peer
// whose clock was set back signs with a lower Seq: then its older record is kept, rather than none.
func (n *Node) newest(p wire.PeerID, held, came []byte) []byte {
	newest, seq := came, signed.Seq(came)
	for _, r := range [][]byte{held, n.lastRecords[p]} {
		if s := signed.Seq(r); s > seq { // Seq is 0 without a record
			newest, seq = r, s
		}
	}
	return newest
}

// lastRecords returns the records that the last run held.
func (c *config) lastRecords() map[wire.PeerID][]byte {
	out := make(map[wire.PeerID][]byte)
	if c.store != nil {
		for _, p := range c.store.Peers() {
			out[wire.PeerID(p.ID)] = p.Record
		}
	}
	return out
}

// byIP returns the addresses that begin with an IP address and have no free text: they can be dialled without a lookup,
// and shown to anybody.
func byIP(addrs []ma.Multiaddr) []ma.Multiaddr {
	return slices.DeleteFunc(slices.Clone(addrs), func(a ma.Multiaddr) bool { return !isByIP(a) })
}

// isByIP reports whether an address begins with an IP address and has only parts of known kinds, without free text.
func isByIP(a ma.Multiaddr) bool {
	for i, c := range a {
		switch c.Code() {
		case ma.P_IP4, ma.P_IP6:
		case ma.P_TCP, ma.P_UDP, ma.P_QUIC_V1, ma.P_WEBTRANSPORT, ma.P_WEBRTC_DIRECT, ma.P_CERTHASH,
			ma.P_TLS, ma.P_NOISE, ma.P_WS, ma.P_WSS, ma.P_P2P, ma.P_CIRCUIT:
			if i == 0 {
				return false
			}
		case ma.P_SNI:
			if i == 0 || strings.ContainsFunc(c.Value(), func(r rune) bool { return !inHostName(r) }) {
				return false
			}
		default:
			return false
		}
	}
	return len(a) > 0
}

// inHostName reports whether the character r may be in a name of a host.
func inHostName(r rune) bool {
	return r == '-' || r == '.' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
}

// dialable returns a few of another peer's addresses to dial, public ones first. Private ones are among them if anywhere
// is true, or if this host is in a private network. An address through a relay is last, if the relay is connected or a
// bootstrap peer.
func (n *Node) dialable(addrs []ma.Multiaddr, anywhere bool) []ma.Multiaddr {
	var public, private, byRelay []ma.Multiaddr
	for _, a := range n.cfg.addresses(byIP(addrs)) {
		switch {
		case slices.ContainsFunc(public, a.Equal) || slices.ContainsFunc(private, a.Equal):
		case hasRelay(a):
			if _, ok := n.relayOf(a); ok && byRelay == nil {
				byRelay = append(byRelay, a)
			}
		case manet.IsPublicAddr(a):
			public = append(public, a)
		default:
			private = append(private, a)
		}
	}
	if len(private) > 0 && (anywhere || n.inPrivateNetwork()) {
		public = append(public, private...)
	}
	return append(public[:min(len(public), n.cfg.limits.Addrs-len(byRelay))], byRelay...)
}

// hasRelay reports whether an address leads through a relay.
func hasRelay(a ma.Multiaddr) bool {
	_, err := a.ValueForProtocol(ma.P_CIRCUIT)
	return err == nil
}

// relayOf returns the relay in an address. ok: it is connected, or one of WithBootstrap. A connected relay
// comes without addresses.
func (n *Node) relayOf(a ma.Multiaddr) (relay peer.AddrInfo, ok bool) {
	before, _ := ma.SplitFunc(a, func(c ma.Component) bool { return c.Code() == ma.P_CIRCUIT })
	info, err := peer.AddrInfoFromP2pAddr(before)
	if err != nil {
		return relay, false
	}
	if n.host.Network().Connectedness(info.ID) == network.Connected {
		return peer.AddrInfo{ID: info.ID}, true
	}
	i := slices.IndexFunc(n.cfg.bootstrap, func(p peer.AddrInfo) bool { return p.ID == info.ID })
	if i < 0 {
		return relay, false
	}
	return n.cfg.bootstrap[i], true
}

// inPrivateNetwork reports whether this host has no public address, or is connected with a peer at a private one.
func (n *Node) inPrivateNetwork() bool {
	if !slices.ContainsFunc(n.host.Addrs(), manet.IsPublicAddr) {
		return true
	}
	for _, c := range n.host.Network().Conns() {
		if !manet.IsPublicAddr(c.RemoteMultiaddr()) {
			return true
		}
	}
	return false
}
