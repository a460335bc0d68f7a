package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/node/httpapi"
)

// TestKnownPart: status says how much of the network is known, and whom else it can ask.
func TestKnownPart(t *testing.T) {
	for want, s := range map[string]node.Figures{
		"none: no other peer is known": {},
		"all":                          {Covered: 1, Range: "all"},
		".25 (range 01); 6 contacts for the rest": {Covered: .25, Range: "01", Contacts: 6},
	} {
		if got := knownPart(httpapi.Status{Figures: s}); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
}

// TestExplain: the end of a search is explained with the share that was covered, the age of what is known, the number of
// peers asked for more contacts, and the range of each answer. Where the peer has the key itself, nothing was covered.
func TestExplain(t *testing.T) {
	var b bytes.Buffer
	explain(&b, httpapi.FindEnd{Key: "K", End: "exhausted", Messages: 12, Covered: .5, AsOf: 1234, Inquiries: 4, Asked: []httpapi.Asked{
		{Peer: "P", Why: "contact", Result: "answered", Range: "011"}, {Peer: "Q", Why: "linked", Result: "lacks"},
	}})
	explain(&b, httpapi.FindEnd{Key: "K", End: "enough", Found: 1})
	for _, want := range []string{
		"K: exhausted; 0 found with 12 messages in 0.0 ms; .50 of the network was asked or is known as of 1.2 s ago; 4 peers were asked for more contacts\n",
		"  P           contact  0.000        answered  0      011    0.0 ms",
		"  Q           linked   0.000        lacks     0      -      0.0 ms",
		"K: enough; 1 found with 0 messages in 0.0 ms\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q lacks %q", b.String(), want)
		}
	}
}

// TestNobody: that nobody has a key is said only if all were asked, and all of them answered. A key with blanks or control
// characters can be told from the words around it.
func TestNobody(t *testing.T) {
	const key, quoted = "it: all\tof\x1b[1m", `"it: all\tof\x1b[1m"`
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
		{"exhausted", 1, nil, "nobody has KEY: all of the network was asked or is known"},
		{"exhausted", 1, asked("matched", "lacks", "lacks"), "nobody has KEY: all of the network was asked or is known"},
		{"exhausted", 1, twice, "nobody has KEY: all of the network was asked or is known"},
		{"exhausted", 1, asked("contact", "failed"), "nobody has KEY: all of the network was asked or is known"},
		{"exhausted", 1, asked("matched", "failed", "lacks"), "nobody found who has KEY: 1 peer that was asked did not answer"},
		{"exhausted", 1, asked("linked", "failed", "pending"), "nobody found who has KEY: 2 peers that were asked did not answer"},
		{"exhausted", .419, asked("named", "lacks"), "nobody found who has KEY: only .41 of the network was asked or is known"},
		{"exhausted", .9999, nil, "nobody found who has KEY: only .99 of the network was asked or is known"},
		{"out of budget", .5, nil, "nobody found who has KEY: only .50 of the network was asked or is known; out of budget"},
		{"out of time", 1, asked("returned", "pending"), "nobody found who has KEY: 1 peer that was asked did not answer; out of time"},
		{"out of time", 1, nil, "nobody found who has KEY: out of time"},
		{"exhausted", 0, nil, "nobody was asked who has KEY: no other peer is known"},
		{"node: closed", 0, nil, "nobody found who has KEY: node: closed"},
	} {
		want := strings.Replace(c.want, "KEY", quoted, 1)
		if got := nobody(key, httpapi.FindEnd{End: c.end, Covered: c.covered, Asked: c.asked}); got != want {
			t.Errorf("%s, covered %v, asked %v: %q, want %q", c.end, c.covered, c.asked, got, want)
		}
	}
}
