package node

import (
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/rank"
	"github.com/venn-p2p/venn/overlay/wire"
)

const (
	sampleKeys = 1000 // number of the node's keys from which audits draw
	sampleLife = time.Hour
)

// audit asks a peer whether it holds what its summary claims. Without a key store that can list its keys there are no
// audits.
func (n *Node) audit(a event.Audit) {
	sample, err := n.sample.of(n)
	if err != nil {
		n.log.Debug("no audit", "peer", a.Of.Peer, "err", err)
		return
	}
	seed := n.cfg.seed
	if p := n.cfg.previous; p != nil && a.Claims.Header().Seed == p.Tag() {
		seed = p.Seed
	}
	hasher := seed.Hasher()
	sample = slices.Clone(sample)
	rand.Shuffle(len(sample), func(i, j int) { sample[i], sample[j] = sample[j], sample[i] }) // not from the seed
	claims := func(k []byte) bool { return a.Claims.Contains(hasher.Fingerprint(k)) }
	q := rank.Draw(sample, claims, func(k []byte) (bool, error) { return n.has(k, false) })
	if len(q.Keys) == 0 {
		return
	}
	holds, _, err := n.have(n.ctx, a.Of, wire.HaveRequest{Keys: q.Keys}, forInquiry)
	if err != nil {
		n.log.Debug("audit failed", "peer", a.Of.Peer, "err", err)
		return
	}
	hits, misses := q.Judge(holds)
	n.in.Result(n.ctx, event.Outcome{Peer: a.Of.Peer, Hits: hits, Misses: misses})
}

// keySample keeps some of the node's keys, drawn at random from all. It lists all keys once an hour at most, because a
// listing takes a while.
type keySample struct {
	mu   sync.Mutex
	keys [][]byte
	made time.Time
}

// of returns the sample. It draws a new one if the sample is older than sampleLife.
func (s *keySample) of(n *Node) ([][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.made) < sampleLife {
		return s.keys, nil
	}
	listing, err := n.listed(n.ctx)
	if err != nil {
		return nil, err
	}
	var keys [][]byte
	seen := 0
	for key, err := range listing {
		if err != nil {
			return nil, err
		}
		seen++
		if len(keys) < sampleKeys {
			keys = append(keys, slices.Clone(key))
		} else if i := rand.IntN(seen); i < sampleKeys {
			keys[i] = slices.Clone(key)
		}
	}
	s.keys, s.made = keys, time.Now()
	return keys, nil
}
