package node

import (
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/internal/admit"
	"github.com/venn-p2p/venn/node/internal/inbox"
	"github.com/venn-p2p/venn/node/internal/streams"
	"github.com/venn-p2p/venn/node/signed"
	"github.com/venn-p2p/venn/overlay/tails"
	"github.com/venn-p2p/venn/overlay/wire"
)

// makeTail tells the core which fingerprints were added and removed. The key store is asked outside of the loop.
func (l *loop) makeTail() {
	keys := l.n.unannounced.take()
	l.n.tasks.Run(func() { l.n.in.Result(l.n.ctx, l.n.changeOf(keys)) })
}

// changeOf returns the fingerprints of changed keys: as added if the node holds the key now, else as removed.
func (n *Node) changeOf(keys [][]byte) (in tails.Changed) {
	for i, k := range keys {
		has, err := n.has(k, false)
		if err != nil {
			n.unannounced.back(keys[i:]) // for the next tail, or epoch
			break
		}
		if f := n.hasher.Fingerprint(k); has {
			in.Added = append(in.Added, f)
		} else {
			in.Removed = append(in.Removed, f)
		}
	}
	return in
}

// hides reports whether the core lacks changes of the keys that a linked peer may find here: keys were added or dropped
// since the last tail or epoch, or there are private keys. Private keys count only for peers that may ask for them:
// others do not learn that there are any.
func (n *Node) hides(to wire.PeerID) bool {
	if n.unannounced.any() {
		return true
	}
	if !n.mayAskPrivate(peer.ID(to)) {
		return false
	}
	private, err := n.cfg.private.Len()
	return private > 0 || err != nil
}

// takeTails hands the items of a message to the loop in batches, one a turn. It verifies the signatures that the core
// does not know. The stream waits while the peer lacks credit, or while the loop's queue is full.
func (n *Node) takeTails(s *streams.Stream, b []byte) error {
	items, err := wire.ParseTails(b)
	for err == nil && len(items) > 0 {
		some := oneTurn(items)
		took := make(chan inbox.Unverified, 1)
		if err = n.offerTails(s.Peer, items[:some], took); err != nil {
			break
		}
		select {
		case u := <-took:
			if err = s.PayLate(time.Duration(len(u.Signatures)) * admit.Signature); err == nil {
				err = n.openTails(u)
			}
		case <-n.ctx.Done():
			err = n.ctx.Err()
		}
		items = items[some:]
	}
	return err
}

// openEarly does openTails for tails that came before their epoch. It drops the tails of a peer that may not cause more
// work: the peer is asked for them again.
func (n *Node) openEarly(u inbox.Unverified) {
	for i, it := range u.Items {
		if !n.streams.Admit.Peer(n.host.Network(), peer.ID(it.From)).Pay(time.Duration(len(it.Item.Tails)) * admit.Signature) {
			u.Items[i].Item.Tails = nil
		}
	}
	_ = n.openTails(u)
}

// openTails verifies the signatures of tails, and gives the tails to the core again.
func (n *Node) openTails(u inbox.Unverified) error {
	for _, s := range u.Signatures {
		_ = n.cfg.headers.Signature(s.Origin, s.Message, s.Signature, n.verifyTail) // good signatures are remembered
	}
	for _, it := range u.Items {
		if err := n.offerTails(peer.ID(it.From), []wire.TailItem{it.Item}, nil); err != nil {
			return err
		}
	}
	return nil
}

// offerTails hands items to the loop when it has room. took gets the unverified tails; nil: all tails were verified.
func (n *Node) offerTails(from peer.ID, items []wire.TailItem, took chan<- inbox.Unverified) error {
	in := inbox.Message{From: from, Tails: items, Opened: took == nil, Took: took}
	for _, it := range items {
		in.Bytes += itemBytes
		for _, t := range it.Tails {
			in.Bytes += len(t)
		}
	}
	retry(n.ctx, every(roomPause), func() (room bool) {
		in.Came = n.now() // until there is room, the wait is the sender's: it has sent more than its share
		if room = n.in.OfferMessage(in); !room {
			n.counters.Drop("tails late")
		}
		return room
	})
	return n.ctx.Err()
}

// verified returns nil if a signature of a tail is known to be good. It notes any other in l.unverified.
func (l *loop) verified(origin string, message, signature []byte) error {
	return l.n.cfg.headers.Signature(origin, message, signature, func(string, []byte, []byte) error {
		l.unverified.Signatures = append(l.unverified.Signatures, inbox.Signature{Origin: origin, Message: message, Signature: signature})
		return tails.ErrUnverified
	})
}

// mostInTurn is the largest number of tails of one peer in a turn of the loop, unless a single item has more.
const mostInTurn = 16

// oneTurn returns the number of items, from the first on, that go into one turn of the loop.
func oneTurn(items []wire.TailItem) (some int) {
	for tails := 0; some < len(items); some++ {
		if tails += len(items[some].Tails); some > 0 && tails > mostInTurn {
			break
		}
	}
	return some
}

// itemBytes is the approximate size of an item besides its tails.
const itemBytes = 16

// roomPause is the time between attempts to find room in the loop for tails. Dials wait five times as long for room.
const roomPause = 10 * time.Millisecond

// sendingTo reports whether messages of tails to a peer wait or are being written.
func (l *loop) sendingTo(p wire.PeerID) bool {
	link := l.links[peer.ID(p)]
	return link != nil && link.pipe.Busy()
}

// lostTails handles the loss of messages of tails to a peer.
func (n *Node) lostTails(p peer.ID) {
	n.counters.Drop("tails")
	n.in.Unheard(p)
}

var errTailSigner = errors.New("node: no public key of the tail's origin")

// verifyTail checks the signature of a tail.
func (n *Node) verifyTail(origin string, message, signature []byte) error {
	id := peer.ID(origin)
	key, err := id.ExtractPublicKey()
	if err != nil {
		key = n.host.Peerstore().PubKey(id)
	}
	if key == nil {
		return fmt.Errorf("%w: %s", errTailSigner, id)
	}
	if err := signed.Verify(key, message, signature); err != nil {
		return fmt.Errorf("node: tail of %s: %w", id, err)
	}
	return nil
}
