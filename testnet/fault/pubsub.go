package fault

import (
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p-pubsub/partialmessages"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/overlay/wire"
)

// subscribe starts pubsub and joins the topic.
func (p *Peer) subscribe(ctx context.Context) error {
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	ps, err := pubsub.NewGossipSub(ctx, p.h,
		pubsub.WithPartialMessagesExtension(&partialmessages.PartialMessagesExtension[struct{}]{
			Logger: quiet, GroupTTLByHeatbeat: 4, OnIncomingRPC: p.incoming,
			OnEmitGossip:                           func(_ string, _ []byte, _ []peer.ID, s map[peer.ID]struct{}) { clear(s) },
			PeerInitiatedGroupLimitPerTopic:        1 << 14,
			PeerInitiatedGroupLimitPerTopicPerPeer: 1 << 12,
		}),
		node.Gossip(), pubsub.WithLogger(quiet), pubsub.WithMaxMessageSize(8<<20))
	if err != nil {
		return fmt.Errorf("fault: %w", err)
	}
	p.ps = ps
	topic, err := ps.Join(node.Topic(p.cfg.Network), pubsub.RequestPartialMessages())
	if err != nil {
		return fmt.Errorf("fault: %w", err)
	}
	if _, err := topic.Subscribe(); err != nil {
		return fmt.Errorf("fault: %w", err)
	}
	return nil
}

// incoming sends parts to peers that ask for the claim. It runs on pubsub's goroutine.
func (p *Peer) incoming(from peer.ID, states map[peer.ID]struct{}, rpc *pb.PartialMessagesExtension) error {
	clear(states)
	items, err := wire.ParseCatalogue(rpc.PartsMetadata)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, it := range items {
		if parts, lies := p.liar.PartsOf(it); lies {
			msg := parts.Append(nil)
			go p.publish(from, it.Group[:], nil, msg) // ends when pubsub ends, at the latest
		}
	}
	return nil
}

// publish sends one partial message to one peer.
func (p *Peer) publish(to peer.ID, group, metadata, parts []byte) {
	_ = pubsub.PublishPartial(p.ps, node.Topic(p.cfg.Network), group, func(states map[peer.ID]struct{}, _ func(peer.ID) bool) iter.Seq2[peer.ID, partialmessages.PublishAction] {
		clear(states)
		return func(yield func(peer.ID, partialmessages.PublishAction) bool) {
			yield(to, partialmessages.PublishAction{EncodedPartialMessage: parts, EncodedPartsMetadata: metadata})
		}
	})
}
