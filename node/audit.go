package node

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

const (
	sampleKeys = 1000 // number of the node's keys from which audits draw
	sampleLife = time.Hour
)

// audit asks a peer for up to event.AuditKeys of our own keys that its summary claims, mixed with at most as many
// made-up keys that it denies. A made-up key joins halves of two of our keys. Each yes to a made-up key cancels a yes
// to a claimed one. Without a key store that can list its keys there are no audits.
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
	claims := func(k []byte) bool { return a.Claims.Contains(hasher.Fingerprint(k)) }
	var claimed, denied [][]byte
	for i, j := range rand.Perm(len(sample)) { // not from the seed: a peer must not foresee it
		k, other := sample[j], sample[i]
		if len(claimed) < event.AuditKeys && claims(k) {
			if has, err := n.has(k, false); has && err == nil {
				claimed = append(claimed, k)
			}
		}
		if k = slices.Concat(other[:len(other)/2], k[len(k)/2:]); len(denied) < event.AuditKeys && !claims(k) {
			if has, err := n.has(k, false); !has && err == nil {
				denied = append(denied, k)
			}
		}
	}
	if len(claimed) == 0 {
		return
	}
	asked := append(claimed, denied[:min(len(denied), len(claimed))]...)
	slices.SortFunc(asked, bytes.Compare) // the order must not tell them apart
	has, _, err := n.have(n.ctx, a.Of, wire.HaveRequest{Keys: asked}, forInquiry)
	if err != nil {
		n.log.Debug("audit failed", "peer", a.Of.Peer, "err", err)
		return
	}
	hits := 0
	for i, k := range asked {
		switch {
		case has[i] && claims(k):
			hits++
		case has[i]:
			hits-- // this yes cancels one to a claimed key
		}
	}
	hits = max(hits, 0)
	n.in.Result(n.ctx, event.Outcome{Peer: a.Of.Peer, Hits: hits, Misses: len(claimed) - hits})
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
