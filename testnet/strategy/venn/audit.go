package venn

import (
	"slices"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/rank"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Messages of an audit, which asks a neighbour for keys of this peer that the neighbour's summary claims.
type (
	auditAsk    struct{ keys []summary.Fingerprint }
	auditAnswer struct{ hits, misses int }
)

// ofKeys returns a question for n keys.
func ofKeys(n int) wire.HaveRequest {
	q := wire.HaveRequest{Keys: make([][]byte, n)}
	for i := range q.Keys {
		q.Keys[i] = make([]byte, strategy.KeyBytes)
	}
	return q
}

func (v *node) audit(e event.Audit) {
	own := v.run.world.Collection(v.host.Self())
	v.host.Rand().Shuffle(len(own), func(i, j int) { own[i], own[j] = own[j], own[i] })
	var keys []summary.Fingerprint
	for _, f := range own {
		if len(keys) < rank.AuditKeys && e.Claims.Contains(f) {
			keys = append(keys, f)
		}
	}
	if len(keys) > 0 {
		v.send(idOf(e.Of.Peer), auditAsk{keys}, opens(ofKeys(len(keys))), 0)
	}
}

func (v *node) audited(from strategy.ID, a auditAsk) {
	asked := slices.Clone(a.keys)
	slices.Sort(asked)
	var b auditAnswer
	for _, f := range v.run.world.Collection(v.host.Self()) {
		if _, found := slices.BinarySearch(asked, f); found {
			b.hits++
		}
	}
	b.misses = len(asked) - b.hits
	v.send(from, b, follows(make(wire.HaveAnswer, len(a.keys))), 0)
}
