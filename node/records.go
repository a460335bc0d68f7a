package node

import (
	"slices"
	"sync"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/venn-p2p/venn/node/defence"
	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay"
)

const (
	maxNewest    = 1 << 14 // peers whose newest record is remembered, about 1 KiB each at most
	maxDialAddrs = 8       // addresses of a record that are dialled
)

// newest remembers the newest record of each peer: somebody who passes on an old one must not hide where a peer is now.
// It is safe for concurrent use.
type newest struct {
	mu   sync.Mutex
	of   map[peer.ID]signed.Record
	prev map[peer.ID]signed.Record // the older half
}

// latest takes in a record and returns the newest of its peer.
func (s *newest) latest(r signed.Record) signed.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, ok := s.of[r.ID]
	if !ok {
		old, ok = s.prev[r.ID]
	}
	if ok && old.Seq > r.Seq {
		r = old
	}
	if s.of == nil || len(s.of) >= maxNewest/2 {
		s.prev, s.of = s.of, make(map[peer.ID]signed.Record)
	}
	s.of[r.ID] = r
	return r
}

// record opens a signed record and returns the newest that is known of its peer.
func (n *Node) record(envelope []byte) (peer.AddrInfo, error) {
	r, err := n.cfg.headers.Record(envelope)
	if err != nil || n.cfg.off.Has(defence.NewestRecord) {
		return r.AddrInfo, err
	}
	return n.newest.latest(r).AddrInfo, nil
}

// recordPeer returns the peer of a signed record, for the core.
func (n *Node) recordPeer(envelope []byte) (overlay.PeerID, error) {
	info, err := n.record(envelope)
	return overlay.PeerID(info.ID), err
}

// dialable returns those of a stranger's addresses to dial: a few, public ones first. Those of private networks are
// among them only if this host is in one.
func (n *Node) dialable(addrs []ma.Multiaddr) []ma.Multiaddr {
	if n.cfg.off.Has(defence.FewAddresses) {
		return addrs
	}
	var public, private []ma.Multiaddr
	for _, a := range addrs {
		switch {
		case slices.ContainsFunc(public, a.Equal) || slices.ContainsFunc(private, a.Equal):
		case manet.IsPublicAddr(a):
			public = append(public, a)
		default:
			private = append(private, a)
		}
	}
	if len(private) > 0 && n.inPrivateNetwork() {
		public = append(public, private...)
	}
	return public[:min(len(public), maxDialAddrs)]
}

// inPrivateNetwork says whether this host has no public address, or is connected with somebody at a private one.
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
