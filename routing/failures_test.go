package routing

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/agenda"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
)

// limited returns a router of the limits of every node.
func limited() *Router {
	r := &Router{view: &summarized{}, conducts: ofPeers[conduct](), words: ofPeers[time.Duration]()}
	r.cfg.Limits.defaults()
	return r
}

// summarized is a view that holds the summaries of these peers.
type summarized struct {
	View
	peers []wire.PeerID
}

func (s *summarized) Linked() []wire.PeerID { return nil }

func (s *summarized) HasSummary(p wire.PeerID) bool { return slices.Contains(s.peers, p) }

// TestNamesOfKnownPeers: a peer behind a partition that has healed is asked again when others name it, as soon as any
// other that failed. One that is known by name alone may be invented, and rests for longer.
func TestNamesOfKnownPeers(t *testing.T) {
	r := limited()
	r.view.(*summarized).peers = []wire.PeerID{"known"}
	r.noteFailure("known", r.now, true, false)
	r.noteFailure("a name", r.now, true, false)
	if r.now = r.cfg.Limits.Rest; r.standing("known") != suspect || r.rests("known") || !r.rests("a name") {
		t.Errorf("the known one is %v and rests: %v; the name rests: %v", r.standing("known"), r.rests("known"), r.rests("a name"))
	}
}

// TestWordsMakeRoom: peers doubted on others' word push out none that failed to answer us.
func TestWordsMakeRoom(t *testing.T) {
	r := limited()
	r.noteFailure("dead", r.now, true, false)
	r.now = 1
	for i := range 2 * maxConducts {
		r.Step(1, event.Doubted{Peer: wire.PeerID(fmt.Sprint(i))})
	}
	if f, ok := r.failure("dead"); !ok || !f.sure || r.words.Len() != maxConducts {
		t.Errorf("%v, %v, beside %d words", f, ok, r.words.Len())
	}
}

// TestRests: a peer that failed rests for 4 s, each time, and for a minute if it is known by name alone. After an hour it
// counts as any other.
func TestRests(t *testing.T) {
	r := limited()
	for i := range 3 {
		begun := r.now
		r.noteFailure("p", r.now, true, false)
		for _, c := range []struct {
			after time.Duration
			want  standing
			rests bool
		}{{0, resting, true}, {4*time.Second - 1, resting, true}, {4 * time.Second, suspect, true}, {time.Minute - 1, suspect, true}, {time.Minute, suspect, false}} {
			if r.now = begun + c.after; r.standing("p") != c.want || r.rests("p") != c.rests {
				t.Errorf("failure %d, %v later: standing %v, rests as a name: %v", i+1, c.after, r.standing("p"), r.rests("p"))
			}
		}
	}
	last := r.conduct("p").failure.last
	if r.now = last + time.Hour - 1; r.standing("p") != suspect {
		t.Error("forgiven within the hour")
	}
	if r.now = last + time.Hour; r.standing("p") != sound {
		t.Error("not forgiven after an hour")
	}
}

// TestWord: a peer that a link could not reach is asked last until the link takes that back, or the peer is heard. Words
// are nothing beside what this node has found itself.
func TestWord(t *testing.T) {
	r := limited()
	r.noteFailure("dead", 0, true, false)
	for _, p := range []wire.PeerID{"p", "dead", "heard"} {
		r.Step(0, event.Doubted{Peer: p})
	}
	r.Step(0, Alive{Peer: "heard"})
	if r.standing("p") != doubted || r.rests("p") || r.standing("dead") != resting || r.standing("heard") != sound {
		t.Errorf("on a word: %v, %v, %v", r.standing("p"), r.standing("dead"), r.standing("heard"))
	}
	for _, p := range []wire.PeerID{"p", "dead"} {
		r.Step(0, event.Doubted{Peer: p, Back: true})
	}
	if r.standing("p") != sound || r.standing("dead") != resting {
		t.Errorf("on its being taken back: %v, %v", r.standing("p"), r.standing("dead"))
	}
}

// TestGone: a peer looked for in vain rests for a minute, or until another such peer is back: after a partition, all are.
// A link's word that one is back has the same effect, but that peer is not taken for sound: the word may be a lie.
func TestGone(t *testing.T) {
	for _, c := range []struct {
		back         event.Input
		after        time.Duration
		gone, others standing
	}{
		{nil, time.Minute - 1, resting, resting},
		{nil, time.Minute, suspect, suspect},
		{Alive{Peer: "gone"}, agenda.Attempt, sound, suspect},
		{event.Doubted{Peer: "gone", Back: true}, agenda.Attempt, suspect, suspect},
		{Alive{Peer: "stranger"}, agenda.Attempt, resting, resting},
		{event.Doubted{Peer: "stranger", Back: true}, agenda.Attempt, resting, resting},
	} {
		r := limited()
		r.Step(0, event.Unreachable{Peer: "gone"})
		r.Step(0, event.Unreachable{Peer: "another"})
		if c.back != nil {
			r.Step(1, c.back)
		}
		if r.now = c.after; r.standing("gone") != c.gone || r.standing("another") != c.others {
			t.Errorf("%v later, with %v: the standing is %v, the other's %v", c.after, c.back, r.standing("gone"), r.standing("another"))
		}
	}
}

// TestLateFailureProlongsNoRest: a dial that began before a rest, or in its midst, fails. The rest is no longer for that:
// a peer behind a partition that heals is asked again within one rest from when it was last found silent.
func TestLateFailureProlongsNoRest(t *testing.T) {
	r := limited()
	for range 2 {
		begun := r.now
		r.noteFailure("p", r.now, true, false)
		for _, asked := range []time.Duration{begun - 1, begun, begun + r.cfg.Limits.Rest - 1} {
			r.now = begun + r.cfg.Limits.Rest - 1
			r.noteFailure("p", asked, true, false)
			if r.now++; r.standing("p") != suspect {
				t.Errorf("standing %v at the end of a rest in which a question of %v failed, too", r.standing("p"), asked-begun)
			}
		}
	}
}

// TestReputationFades: what a peer named counts half after five minutes.
func TestReputationFades(t *testing.T) {
	r := limited()
	r.weigh("p", 0, 8)
	for minutes, want := range map[time.Duration]float64{0: 8, 5: 4, 10: 2} {
		if r.now = minutes * time.Minute; r.reputation("p").bad != want {
			t.Errorf("after %d minutes %v count, want %v", minutes, r.reputation("p").bad, want)
		}
	}
}

// TestSure: a poor directory goes by a match at even odds, both by its rate alone and by the size of its collection.
func TestSure(t *testing.T) {
	for _, c := range []struct {
		likely, sized float64
		want          bool
	}{{.5, .5, true}, {.49, .9, false}, {.9, .49, false}} {
		if got := (&candidate{likely: c.likely, sized: c.sized}).sure(); got != c.want {
			t.Errorf("probability %v, by size %v: sure is %v", c.likely, c.sized, got)
		}
	}
}

// TestWidth: a search for all confirms with 16 peers at a time, one more for each 16 holders found, and 64 at most.
func TestWidth(t *testing.T) {
	r := &Router{cfg: Config{Parallel: 16}}
	for found, want := range map[int]int{0: 16, 15: 16, 16: 17, 320: 36, 10_000: 64} {
		q := &search{Query: Query{Mode: wire.All}, found: found}
		if got := r.width(q, &candidate{}); got != want {
			t.Errorf("%d found: %d at a time, want %d", found, got, want)
		}
	}
}
