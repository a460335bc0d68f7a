package node

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/overlay/wire"
)

// standings returns why a node is not linked with some bootstrap peers.
func standings(t *testing.T, n *Node, peers ...peer.ID) (out []error) {
	t.Helper()
	for _, p := range peers {
		out = append(out, statusOf(t, n).Bootstrap[p])
	}
	return out
}

// TestTwoNetworks: nodes of two networks that are connected do not link, and find nothing of each other. Each counts
// the other as refused, logs that once, and says so of a bootstrap peer. Two numbers of one name do link.
func TestTwoNetworks(t *testing.T) {
	log := make(lines, 1000)
	beta := newNode(t, WithNetwork("beta", 0))
	add(t, beta, []byte("beta's"))
	logger := slog.New(slog.NewTextHandler(log, nil))
	alpha := newNode(t, WithNetwork("alpha", 0), WithLogger(logger), WithBootstrap(info(beta)))
	add(t, alpha, []byte("alpha's"))
	eventually(t, "both refuse the other", func() bool {
		return refusals(t, alpha)["network"] > 0 && refusals(t, beta)["network"] > 0
	})
	for range 3 {
		if err := alpha.Connect(t.Context(), info(beta)); !errors.Is(err, ErrNetwork) {
			t.Errorf("connected with an error %v", err)
		}
	}
	for n, key := range map[*Node]string{alpha: "beta's", beta: "alpha's"} {
		if found := find(t, n, []byte(key), QueryOptions{Fresh: -1, Timeout: 2 * time.Second}); len(found) > 0 {
			t.Errorf("found %v", found)
		}
		if s, err := n.Status(t.Context()); err != nil || s.Links > 0 || s.Connections == 0 {
			t.Errorf("%d links, %d connections, %v", s.Links, s.Connections, err)
		}
	}
	if got := standings(t, alpha, beta.ID()); !errors.Is(got[0], ErrNetwork) {
		t.Errorf("stands %v", got)
	}
	if beta.admit(alpha.ID(), false) == nil || beta.links.Linked(alpha.ID()) {
		t.Error("a graft links them")
	}
	// who asks under the ids of its own network is not answered
	r := &raw{t: t, h: newHost(t)}
	dialTo(t, r.h, info(beta))
	if s, err := r.h.NewStream(t.Context(), beta.ID(), alpha.versions(HaveID)[0], HaveID); err == nil {
		t.Errorf("%s is served", s.Protocol())
	}
	if got, err := r.exchange(beta, HaveID, frame(wire.HaveRequest{Keys: [][]byte{[]byte("beta's")}}.Append(nil))); err != nil || len(got) == 0 {
		t.Errorf("in its own network: % x, %v", got, err)
	}
	gamma := newNode(t, WithNetwork("alpha", 1), WithBootstrap(info(alpha)))
	eventually(t, "two numbers of one name link", func() bool { return lone(t, []*Node{alpha, gamma}) == 0 })
	if got := standings(t, gamma, alpha.ID()); got[0] != nil {
		t.Errorf("stands %v", got)
	}
	eventually(t, "the other seed is noticed", func() bool { return statusOf(t, gamma).OtherSeed == 1 })
	if err := alpha.Close(); err != nil {
		t.Fatal(err)
	}
	said := 0
	for len(log) > 0 {
		said += strings.Count(<-log, "peer of another network")
	}
	if said != 1 {
		t.Errorf("logged %d times", said)
	}
}

// TestStandings: a node says of each bootstrap peer whether it is linked, does not answer, or is full.
func TestStandings(t *testing.T) {
	friend, full := newNode(t), newNode(t)
	gone := newHost(t)
	dead := infoOf(gone)
	_ = gone.Close()
	n := newNode(t, WithBootstrap(info(friend), dead, info(full)))
	eventually(t, "two are linked, the third is not", func() bool {
		return slices.Equal(standings(t, n, friend.ID(), dead.ID, full.ID()), []error{nil, ErrSilent, nil})
	})
	look(t, n, func(l *loop) { l.turnedAway(full.ID(), wire.Names{}) })
	if got := standings(t, n, friend.ID(), dead.ID, full.ID()); !slices.Equal(got, []error{nil, ErrSilent, ErrFull}) {
		t.Errorf("stands %v", got)
	}
}

// TestPartedLink: a peer whose link gives way to a newcomer hears so, and does not count on the link any more.
func TestPartedLink(t *testing.T) {
	t.Parallel()
	n := newNode(t, WithMaxConnections(13))
	friend := newNode(t)
	for _, p := range []*Node{friend, newNode(t)} {
		dialTo(t, p, info(n))
	}
	eventually(t, "they are linked", func() bool { return lone(t, []*Node{friend}) == 0 && n.links.Linked(friend.ID()) })
	n.links.Need(friend.ID(), false)
	for i := 0; n.links.Linked(friend.ID()); i++ {
		n.links.Meshed(friend.ID(), false)
		_ = n.admit(peer.ID(fmt.Sprint("newcomer ", i)), false)
		time.Sleep(20 * time.Millisecond)
	}
	eventually(t, "the friend has no link", func() bool { return lone(t, []*Node{friend}) == 1 })
}
