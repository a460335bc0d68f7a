package node

import (
	"errors"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Reasons why the node is not linked with a bootstrap peer: see Status.Bootstrap.
var (
	// ErrFull says that a peer has no room for the link. It has named others in its place.
	ErrFull = errors.New("node: peer is full")
	// ErrNetwork says that a peer is of a network of another name.
	ErrNetwork = errors.New("node: peer is of another network")
	// ErrSilent says that a peer cannot be reached, or takes no hello.
	ErrSilent = errors.New("node: peer does not answer")
	// ErrUntried says that a peer was not reached yet, or that a link with it has ended.
	ErrUntried = errors.New("node: peer was not tried yet")
)

// bootstrapPeers returns, for each bootstrap peer, why the node is not linked with it; nil: it is.
func (l *loop) bootstrapPeers() map[peer.ID]error {
	out := make(map[peer.ID]error, len(l.n.cfg.bootstrap))
	for _, info := range l.n.cfg.bootstrap {
		switch p := info.ID; {
		case l.linked(p).greeted:
			out[p] = nil
		case l.n.ofOtherNetwork(p):
			out[p] = ErrNetwork
		case l.standing[p] != nil:
			out[p] = l.standing[p]
		default:
			out[p] = ErrUntried
		}
	}
	return out
}

// stands notes the reason why the node is not linked with a bootstrap peer. It logs each reason at most once a day for
// each peer. cause has details for the log.
func (l *loop) stands(p peer.ID, why, cause error) {
	if !l.n.cfg.isBootstrap(p) || l.n.ofOtherNetwork(p) {
		return
	}
	l.standing[p] = why
	l.n.logOnce(why.Error()+string(p), func() { l.n.log.Info("bootstrap", "peer", p, "err", why, "cause", cause) })
}

// unreached reports that a bootstrap peer could not be dialled.
type unreached struct {
	peer peer.ID
	err  error
}

// The lines of the log that are remembered, so that they are not repeated, and for how long.
const (
	mostLogged  = 1024
	loggedAgain = 24 * time.Hour
)

// logOnce logs a line of the given name unless it did so in the last day.
func (n *Node) logOnce(name string, log func()) {
	now := time.Now()
	if !n.logged.was(name, now) && n.logged.note(name, now) {
		log()
	}
}
