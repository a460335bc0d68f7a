// Package strategies lists the strategies that the program comes with.
package strategies

import (
	"github.com/venn-p2p/venn/testnet/strategy"
	"github.com/venn-p2p/venn/testnet/strategy/attenuated"
	"github.com/venn-p2p/venn/testnet/strategy/bitswap"
	"github.com/venn-p2p/venn/testnet/strategy/flooding"
	"github.com/venn-p2p/venn/testnet/strategy/kademlia"
	"github.com/venn-p2p/venn/testnet/strategy/oracle"
	"github.com/venn-p2p/venn/testnet/strategy/planetp"
	"github.com/venn-p2p/venn/testnet/strategy/qrp"
	"github.com/venn-p2p/venn/testnet/strategy/randomwalk"
	"github.com/venn-p2p/venn/testnet/strategy/swim"
	"github.com/venn-p2p/venn/testnet/strategy/tracker"
	"github.com/venn-p2p/venn/testnet/strategy/venn"
)

// All returns the strategies that are compared by default, in the order of tables.
func All() []strategy.Strategy {
	return []strategy.Strategy{
		venn.Strategy, flooding.Strategy, randomwalk.Strategy, planetp.Strategy, attenuated.Strategy, attenuated.Papapetrou, qrp.Strategy,
		kademlia.Strategy, bitswap.Strategy, tracker.Strategy, swim.Strategy, oracle.Strategy,
	}
}

// Named returns the strategies that can be chosen by name: All, and variants that are not run unless they are named.
func Named() []strategy.Strategy { return append(All(), kademlia.Classic, venn.Undefended) }
