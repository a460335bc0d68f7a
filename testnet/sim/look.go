package sim

import (
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// What one may look at in a run whenever Config.Progress is called, and after its end.

// Peer is what runs at a peer; nil: it is not there.
func (s *Sim) Peer(p strategy.ID) strategy.Peer { return s.nodes[p].peer }

// Links are the peers with an open connection to one, ascending. They are valid until the run goes on.
func (s *Sim) Links(p strategy.ID) []strategy.ID { return s.nodes[p].links.Open() }

// Rates are those of a peer's line as it declares them, bit/s.
func (s *Sim) Rates(p strategy.ID) (up, down uint64) { return s.cfg.Rates(p) }

// Latency is that of a message between two peers, one way.
func (s *Sim) Latency(a, b strategy.ID) time.Duration { return s.latency(a, b) }

// Data is who held what at the start.
func (s *Sim) Data() *Data { return s.cfg.Data }

// Collection are the keys that a peer holds now, ascending. They are not to be changed.
func (s *Sim) Collection(p strategy.ID) []uint32 { return s.held.Collection(p) }
