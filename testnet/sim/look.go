package sim

import (
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// These methods may be called while Config.Progress is called, and after the end of the run.

// Peer returns the machine of a peer; nil: the peer is away.
func (s *Sim) Peer(p strategy.ID) strategy.Peer { return s.nodes[p].peer }

// Links returns the peers to which a peer has a link, ascending. The slice is valid until the run goes on.
func (s *Sim) Links(p strategy.ID) []strategy.ID { return s.nodes[p].links.Open() }

// Rates returns the declared rates of a peer's line, bit/s.
func (s *Sim) Rates(p strategy.ID) (up, down uint64) { return s.cfg.Rates(p) }

// Latency returns the one-way latency of a message between two peers.
func (s *Sim) Latency(a, b strategy.ID) time.Duration { return s.latency(a, b) }

// Data returns the collections at the start.
func (s *Sim) Data() *Data { return s.cfg.Data }

// Collection returns the numbers of the keys that a peer holds now, ascending. The slice must not be changed.
func (s *Sim) Collection(p strategy.ID) []uint32 { return s.held.Collection(p) }
