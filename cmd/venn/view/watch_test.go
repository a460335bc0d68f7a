package view

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/summary"
)

// TestAskGivesNoPrivateKeysAway asks a node for a key that it advertises, for a private one, and for one that nobody
// has. The answers to the last two are the same.
func TestAskGivesNoPrivateKeysAway(t *testing.T) {
	h := must(libp2p.New(libp2p.NoListenAddrs, libp2p.DisableMetrics()))
	defer func() { _ = h.Close() }()
	n := must(node.New(h))
	defer func() { _ = n.Close() }()
	must(n.Add(t.Context(), []byte("open")))
	must(n.AddPrivate(t.Context(), []byte("private")))
	f := NewFeed(Header{}, 0)
	w := NewWatch(f, false)
	w.Add(t.Context(), Peer{Name: "it"}, n)
	ask := func(key string) Query {
		return must(w.Ask(t.Context(), 0, []byte(key), false))
	}
	if q := ask("open"); !slices.Equal(q.Found, []int{w.Number(n.ID())}) {
		t.Errorf("an advertised key is found at %v", q.Found)
	}
	private, nobodys := ask("private"), ask("nobody's")
	if len(private.Found) > 0 || private.End != nobodys.End || private.Messages != nobodys.Messages {
		t.Errorf("a private key has the answer %+v, one that nobody holds %+v", private, nobodys)
	}
}

// Peers that start again and again are asked once each.
func TestRestartedPeersAreWatchedOnce(t *testing.T) {
	w := NewWatch(NewFeed(Header{}, 0), false)
	look := w.watched()
	for life := range 100 {
		for n := range 3 {
			w.put(member{n: n, rate: uint64(life)})
		}
		if life == 0 {
			look = w.watched()
		}
	}
	if got := w.watched(); len(got) != 3 || got[2] != (member{n: 2, rate: 99}) {
		t.Errorf("members %v, want the last life of each of 3", got)
	}
	if len(look) != 3 || look[0].rate != 0 {
		t.Errorf("an earlier look's members changed to %v", look)
	}
}

// Nodes say what they learn side by side: one may be heard to know a tail before its maker is heard to have made it. A
// viewer that was told so would count the first of them as one that never heard of it.
func TestVersionsArePublishedBeforeWhoKnowsThem(t *testing.T) {
	const maker, other = 0, 1
	f := NewFeed(Header{}, 0)
	w := NewWatch(f, false)
	w.add("maker", Peer{Name: "maker"})
	w.add("other", Peer{Name: "other"})
	w.told[maker] = version{}
	var p place
	follow(t, f, &p)
	published := func() (lines []string) {
		w.flush()
		return follow(t, f, &p)
	}
	summary, tail := version{summary.Epoch{Sequence: 7}, 0}, version{summary.Epoch{Sequence: 7}, 1}
	w.noteLearned(other, "maker", summary)
	if got := published(); len(got) != 0 {
		t.Errorf("a summary that is yet to be published is known: %q", got)
	}
	w.noteTold(maker, summary)
	w.noteLearned(other, "maker", tail)
	if got := published(); len(got) != 1 || !strings.Contains(got[0], `"learned":[[0,7,`) || strings.Contains(got[0], "],[") {
		t.Errorf("once the summary is published, and not its tail, there is %q", got)
	}
	w.noteTold(maker, tail)
	if got := published(); len(got) != 1 || !strings.HasSuffix(strings.TrimSpace(got[0]), `,1]]}`) {
		t.Errorf("once the tail is published there is %q", got)
	}
	f.began = f.began.Add(-time.Hour)
	w.learned[other] = []learnt{{maker, version{summary.epoch, 2}, (time.Hour - tellWithin).Milliseconds() - 1}}
	if got := published(); len(got) != 1 || !strings.HasSuffix(strings.TrimSpace(got[0]), `,2]]}`) {
		t.Errorf("what a member was not heard to publish for so long is not said to be known: %q", got)
	}
	if got := published(); len(got) != 0 || len(w.learned) != 0 {
		t.Errorf("at the end there is %q, and %v waits", got, w.learned)
	}
}
