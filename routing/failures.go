package routing

import (
	"cmp"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/routing/defence"
)

const (
	// maxFailures is how many peers that failed to answer are remembered.
	maxFailures = 1024
	// firstPause is how long a peer is not asked again after it failed once; each failure in a row doubles it.
	firstPause = time.Second
	// It ends at lastPause: after a partition heals, peers are found again within seconds.
	lastPause = 8 * time.Second
	// A peer known by name alone rests nameRests times as long. The name may be invented, and another peer can say the
	// same again and again.
	nameRests = 32
	// forgiven is how long after its last failure a peer counts as any other again: its summary has expired by then.
	forgiven = time.Hour
	// grace is how long a query waits for a peer that failed before when it has nothing else to wait for.
	grace = 50 * time.Millisecond
)

// failure is what is remembered of a peer that did not answer.
type failure struct {
	last  time.Duration
	pause time.Duration // from the last failure until it is asked again
	sure  bool          // it had all the time that an answer may take; else others doubt it, or a query ended meanwhile
	ours  bool          // it was asked by us
}

// failures are those of at most [maxFailures] peers. One answer clears a peer's record, and time does.
type failures map[overlay.PeerID]failure

// noteFailure takes in that a peer failed to answer.
func (r *Router) noteFailure(p overlay.PeerID, sure bool) {
	longest := lastPause
	if r.cfg.Undefended.Has(defence.Again) {
		longest = forgiven
	}
	r.failures.note(r.now, p, sure, true, longest)
}

// note takes in that a peer failed to answer. It then rests for longest at most. It is sure if the peer had all the
// time that an answer may take.
func (fs *failures) note(now time.Duration, p overlay.PeerID, sure, ours bool, longest time.Duration) {
	if *fs == nil {
		*fs = failures{}
	}
	f := failure{last: now, pause: firstPause, sure: sure, ours: ours}
	if old, ok := fs.of(now, p); ok {
		f.sure, f.ours = sure || old.sure, ours || old.ours
		f.pause = old.pause
		if now >= old.last+old.pause {
			f.pause = min(2*old.pause, longest)
		}
	}
	(*fs)[p] = f
	if len(*fs) > maxFailures {
		fs.forget()
	}
}

// doubt takes in that others could not reach a peer.
func (fs *failures) doubt(now time.Duration, p overlay.PeerID) {
	if _, ok := fs.of(now, p); !ok {
		fs.note(now, p, false, false, lastPause)
	}
}

// of is the record of a peer; ok is false when it has none that still counts.
func (fs failures) of(now time.Duration, p overlay.PeerID) (f failure, ok bool) {
	f, ok = fs[p]
	return f, ok && now < f.last+forgiven
}

// answered clears a peer's record.
func (fs failures) answered(p overlay.PeerID) { delete(fs, p) }

// forget drops the record of the peer that failed longest ago, of one that is merely doubted before any other.
func (fs failures) forget() {
	var oldest overlay.PeerID
	first := true
	for p, f := range fs {
		old := fs[oldest]
		if first || f.sure == old.sure && cmp.Or(cmp.Compare(f.last, old.last), cmp.Compare(p, oldest)) < 0 || !f.sure && old.sure {
			oldest, first = p, false
		}
	}
	delete(fs, oldest)
}

// rests says whether a peer that others name is not asked: it failed of late.
func (r *Router) rests(p overlay.PeerID) bool {
	f, ok := r.failures.of(r.now, p)
	return ok && f.ours && r.now < f.last+nameRests*f.pause && !r.cfg.Undefended.Has(defence.Failures|defence.Names)
}

// Suspected says whether a peer has failed to answer, or others could not reach it, and has not answered since.
func (r *Router) Suspected(p overlay.PeerID) bool { return r.standing(p) != sound }

// standing is what a peer's failures mean for a query. A word from others, or an answer that was slower than somebody
// else's, only moves it back in the order: busy peers are slow, too.
type standing uint8

const (
	sound   standing = iota
	doubted          // asked after all others
	suspect          // asked after all others, and not waited for
	resting          // not asked
)

func (r *Router) standing(p overlay.PeerID) standing {
	f, ok := r.failures.of(r.now, p)
	switch {
	case !ok || r.cfg.Undefended.Has(defence.Failures):
		return sound
	case !f.sure:
		return doubted
	case r.now < f.last+f.pause:
		return resting
	}
	return suspect
}
