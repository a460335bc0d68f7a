package main

import (
	"testing"

	"github.com/venn-p2p/venn/node/httpapi"
)

// TestNobody: that nobody has a key is said only if all were asked, and all of them answered.
func TestNobody(t *testing.T) {
	asked := func(why string, results ...string) (all []httpapi.Asked) {
		for i, r := range results {
			all = append(all, httpapi.Asked{Peer: string(rune('a' + i)), Why: why, Result: r})
		}
		return all
	}
	twice := append(asked("matched", "failed"), asked("matched", "lacks")...)
	for _, c := range []struct {
		end     string
		covered float64
		asked   []httpapi.Asked
		want    string
	}{
		{"exhausted", 1, nil, "nobody has K: all of the network was asked"},
		{"exhausted", 1, asked("matched", "lacks", "lacks"), "nobody has K: all of the network was asked"},
		{"exhausted", 1, twice, "nobody has K: all of the network was asked"},
		{"exhausted", 1, asked("contact", "failed"), "nobody has K: all of the network was asked"},
		{"exhausted", 1, asked("matched", "failed", "lacks"), "nobody found who has K: 1 peer that was asked did not answer"},
		{"exhausted", 1, asked("linked", "failed", "pending"), "nobody found who has K: 2 peers that were asked did not answer"},
		{"exhausted", .419, asked("named", "lacks"), "nobody found who has K: only .41 of the network was asked"},
		{"exhausted", .9999, nil, "nobody found who has K: only .99 of the network was asked"},
		{"out of budget", .5, nil, "nobody found who has K: only .50 of the network was asked; out of budget"},
		{"out of time", 1, asked("returned", "pending"), "nobody found who has K: 1 peer that was asked did not answer; out of time"},
		{"out of time", 1, nil, "nobody found who has K: out of time"},
		{"exhausted", 0, nil, "nobody was asked who has K: no other peer is known"},
		{"node: closed", 0, nil, "nobody found who has K: node: closed"},
	} {
		if got := nobody("K", httpapi.FindEnd{End: c.end, Covered: c.covered, Asked: c.asked}); got != c.want {
			t.Errorf("%s, covered %v, asked %v: %q, want %q", c.end, c.covered, c.asked, got, c.want)
		}
	}
}
