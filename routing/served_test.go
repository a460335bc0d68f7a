package routing_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
	"github.com/venn-p2p/venn/routing/routinglab"
)

// TestOthersLeaveHalf: k identities of k/8 address groups, linked or not, have a peer search as much as they can, for
// keys that they claim and are slow to deny. An honest stranger and an honest link, that each ask once a second, find
// at least half of what they ask for.
func TestOthersLeaveHalf(t *testing.T) {
	for _, k := range []int{8, 64, 512} {
		for _, linked := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d linked=%t", k, linked), func(t *testing.T) {
				stranger, link := othersShare(t, k, linked)
				t.Logf("the stranger found %.2f, the link %.2f", stranger, link)
				if stranger < .5 || link < .5 {
					t.Error("less than half")
				}
			})
		}
	}
}

// othersShare returns the shares of an honest stranger's finds, and of an honest link's, that succeed beside k others.
func othersShare(t *testing.T, k int, linked bool) (stranger, friend float64) {
	const seconds, keys = 30, 20
	p := routinglab.NewNet(1, routing.Config{})
	b, holder := p.Peer("b"), p.Peer("holder")
	p.Link("b-friend b-holder")
	b.Knows["holder"] = .0001
	for i := range seconds {
		holder.Holds[fmt.Sprint("held ", i)] = true
	}
	for i := range k {
		bad := p.Peer(wire.PeerID(fmt.Sprint("bad ", i)))
		bad.Slow = 4 * time.Second
		for j := range keys {
			bad.Claims[fmt.Sprint("lacking ", j)] = true
		}
		b.Knows[bad.ID] = .0001
		if linked {
			routinglab.Link(b, bad)
		}
	}
	found := map[string]bool{}
	p.Trace = func(s string) {
		if at := strings.Index(s, " b > Answer #"); at >= 0 && strings.Contains(s, "[holder]") {
			found[strings.Fields(s[at:])[3]] = true
		}
	}
	request := uint64(1 << 40)
	ask := func(from wire.PeerID, group, key string) string {
		request++
		p.Step("b", event.Asked{Request: request, From: from, Group: group, Question: wire.Query{
			Kind: wire.Search, Nonce: request, Origin: from, Key: []byte(key), Budget: 128, Hops: 2, Within: time.Minute,
		}})
		return fmt.Sprint("#", request)
	}
	var strangers, links []string
	for tick := range seconds * 500 {
		i := tick % k
		ask(wire.PeerID(fmt.Sprint("bad ", i)), fmt.Sprint("group ", i%(k/8)), fmt.Sprint("lacking ", tick%keys))
		if tick%500 == 250 {
			strangers = append(strangers, ask("honest", "own", fmt.Sprint("held ", tick/500)))
			links = append(links, ask("friend", "friendly", fmt.Sprint("held ", tick/500)))
		}
		p.Run(p.Now + time.Second/500)
	}
	share := func(requests []string) (of float64) {
		for _, r := range requests {
			if found[r] {
				of += 1. / seconds
			}
		}
		return of
	}
	return share(strangers), share(links)
}
