// Package links looks after the node's links on its host: their marks in the connection manager, the other users of
// their connections, and dials that cross.
package links

import (
	"strings"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

// Tag and weights of a node's links in the connection manager of its host.
const (
	tag           = "venn"
	linkWeight    = 10
	neighbourhood = 50
)

// identify is the beginning of the ids of the protocols by which two hosts identify each other.
const identify = "/ipfs/id/"

// Keep marks a link in the host's connection manager. If the peer is a neighbour, it also protects the link.
func Keep(h host.Host, p peer.ID, neighbour bool) {
	if neighbour {
		h.ConnManager().Protect(p, tag)
		h.ConnManager().TagPeer(p, tag, neighbourhood)
		return
	}
	h.ConnManager().Unprotect(p, tag)
	h.ConnManager().TagPeer(p, tag, linkWeight)
}

// Release removes the marks that Keep has set.
func Release(h host.Host, p peer.ID) {
	h.ConnManager().Unprotect(p, tag)
	h.ConnManager().UntagPeer(p, tag)
}

// Foreign reports whether anything besides the node and its pubsub uses the connections with p. The signs are a
// protection, a tag, or a stream that is not the node's own. topic is the topic of the node's pubsub. The caller must
// have removed the node's own protection of p. Identify's streams are no sign: every connection has them, and on a slow
// line or a busy machine they come late.
func Foreign(h host.Host, p peer.ID, topic string, own func(network.Stream) bool) bool {
	if protected(h, p, topic) {
		return true
	}
	if info := h.ConnManager().GetTagInfo(p); info != nil {
		for name, value := range info.Tags {
			if name != tag && value != 0 && !strings.HasPrefix(name, "pubsub-deliveries:/venn/") {
				return true
			}
		}
	}
	for _, c := range h.Network().ConnsToPeer(p) {
		for _, s := range c.GetStreams() {
			if !own(s) && !strings.HasPrefix(string(s.Protocol()), identify) {
				return true
			}
		}
	}
	return false
}

// protected reports whether anything but the pubsub of a topic protects the connections with p. Pubsub protects the
// peers in its mesh.
func protected(h host.Host, p peer.ID, topic string) bool {
	mesh, cm := "pubsub:"+topic, h.ConnManager()
	if !cm.IsProtected(p, mesh) {
		return cm.IsProtected(p, "")
	}
	others := cm.Unprotect(p, mesh)
	cm.Protect(p, mesh)
	return others
}
