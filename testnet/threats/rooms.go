package threats

import (
	"context"

	"github.com/venn-p2p/venn/node/nodelab"
)

// roomAttacks are attacks on the queues and places that a node keeps for its peers.
var roomAttacks = []attack{
	{
		name: "a link floods the queue of pubsub's messages", where: Cores, measured: "messages of another taken, of 10", target: atLeast(10),
		defence: "a peer has as much of the queue as is free for all", run: room(nodelab.FloodedMessages),
	},
	{
		name: "a peer takes all places for streams", where: Cores, measured: "streams of another served, of 10", target: atLeast(10),
		defence: "the group with the most places gives way", run: room(nodelab.FloodedStreams),
	},
	{
		name: "dials to peers that there are not close others", where: Cores, measured: "connections that remain, of 16", target: atLeast(16),
		defence: "a connection gives way once a dial has succeeded", run: room(nodelab.DialsInVain),
	},
	{
		name: "newcomers take the places of links", where: Cores, measured: "links in the mesh that remain, of 12", target: atLeast(12),
		defence: "neighbours and the mesh keep three quarters of the places", run: room(nodelab.Newcomers),
	},
	{
		name: "64 identities of one network take all places for links", where: Cores, measured: "of 16 peers elsewhere, those with a link", target: atLeast(16),
		defence: "the group with the most places gives way", run: room(nodelab.Crowd),
	},
}

func room(run func(without bool) int) func(context.Context, bool) float64 {
	return func(_ context.Context, defended bool) float64 { return float64(run(!defended)) }
}
