package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/node/httpapi"
)

// TestLikeliest: in a container the first address is loopback, which no other peer reaches.
func TestLikeliest(t *testing.T) {
	loop, lan, local := "/ip4/127.0.0.1/tcp/4101", "/ip4/10.88.0.2/tcp/4101", "/ip6/fd00::2/tcp/4101"
	for _, c := range []struct {
		of   []string
		want string
	}{{[]string{loop}, loop}, {[]string{loop, lan}, lan}, {[]string{loop, local, lan}, lan}, {[]string{loop, local}, local}} {
		if got := likeliest(c.of); got != c.want {
			t.Errorf("of %v it is %s", c.of, got)
		}
	}
}

// TestDoctor: what is to mend has advice, and so have some things that are fine.
func TestDoctor(t *testing.T) {
	wanted := []string{"/ip4/0.0.0.0/tcp/4101", "/ip4/0.0.0.0/udp/4101/quic-v1", "/ip6/::/tcp/4101"}
	used := []string{"/ip4/10.0.0.1/tcp/4101", "/ip4/10.0.0.1/udp/4101/quic-v1"}
	listens, mirrors := repo.Mirror{Listen: "a:1"}, repo.Mirror{Listen: "a:1", Upstream: repo.Upstream{Go: "http://b"}}
	for _, c := range []struct {
		got           finding
		fine          bool
		found, advice string
	}{
		{ports(wanted, used, false), true, "listens on tcp/4101, udp/4101", ""},
		{ports(wanted, used[1:], false), false, "nothing listens on tcp/4101", "another program"},
		{ports(wanted, used[:1], false), false, "nothing listens on udp/4101", "another program"},
		{ports(wanted, used[:1], true), true, "listens on tcp/4101; QUIC is off", ""},
		{ports(wanted, used[1:], true), false, "nothing listens on tcp/4101", "another program"},
		{ports([]string{"/ip4/0.0.0.0/tcp/0", "no multiaddr"}, nil, false), true, "free ones", "addresses.listen"},
		{reached(httpapi.Reach{How: "not", Advice: "forward a port"}), false, "in vain", "forward a port"},
		{reached(httpapi.Reach{How: "local", Advice: "name a relay"}), true, "this network only", "name a relay"},
		{mirrorFinding(repo.Mirror{}, nil), true, "there is none", ""},
		{mirrorFinding(listens, nil), false, "has no mirror", "start the daemon again"},
		{mirrorFinding(listens, &httpapi.Mirror{}), false, "nothing is mirrored", "name an origin"},
		{mirrorFinding(mirrors, &httpapi.Mirror{Listen: "a:1", Recent: make([]httpapi.Fetch, 2)}), true, "answers on a:1; 0 of the last 2", ""},
		{mirrorFinding(mirrors, &httpapi.Mirror{Recent: []httpapi.Fetch{{Error: "down"}}}), false, "1 of the last 1", "are the origins"},
	} {
		if f := c.got; f.Fine != c.fine || !strings.Contains(f.Found, c.found) || !strings.Contains(f.Advice, c.advice) || (f.Advice == "") != (c.advice == "") {
			t.Errorf("%+v, want %v, %q, %q", f, c.fine, c.found, c.advice)
		}
	}
}

func TestDoctorVersions(t *testing.T) {
	linked := func(agents ...string) (all []httpapi.Peer) {
		for _, a := range agents {
			all = append(all, httpapi.Peer{Linked: true, Agent: a})
		}
		return all
	}
	for _, c := range []struct {
		peers []httpapi.Peer
		fine  bool
		found string
	}{
		{nil, true, "nobody"},
		{[]httpapi.Peer{{Agent: "venn/v9"}}, true, "nobody"}, // known, not linked
		{linked("venn/v1", "venn/v1", "venn/v2"), true, `2 with "venn/v1", 1 with "venn/v2"`},
		{linked("venn/v2", "venn/v1", "venn/v2"), false, `2 with "venn/v2", 1 with "venn/v1"`},
		{linked("kubo/v1", "kubo/v1", ""), true, `2 with "kubo/v1", 1 with "one that does not say"`},
		{linked("venn/\x1b[2J" + strings.Repeat("x", 99)), false, `\x1b[2Jxxx`},
	} {
		if f := versions("v1", c.peers); f.Fine != c.fine || !strings.Contains(f.Found, c.found) || len(f.Found) > 100 || !f.Fine == (f.Advice == "") {
			t.Errorf("%+v: %+v", c.peers, f)
		}
	}
}

// TestDoctorBootstrap: the advice is that of the worst standing, and there is none while the peer is linked with others
// of its network.
func TestDoctorBootstrap(t *testing.T) {
	for _, c := range []struct {
		peers         int
		standings     []error
		fine          bool
		found, advice string
	}{
		{2, []error{nil, node.ErrSilent}, true, "linked: 1, does not answer: 1", ""},
		{0, []error{node.ErrSilent, node.ErrSilent}, false, "does not answer: 2", "do they run"},
		{0, []error{node.ErrFull}, false, "is full: 1", "name another"},
		{0, []error{node.ErrUntried}, false, "was not tried yet: 1", "wait"},
		{1, []error{nil, node.ErrNetwork}, false, "linked: 1, is of another network: 1", "network.name"},
	} {
		s := httpapi.Status{Figures: node.Figures{Links: c.peers}, Bootstrap: make(map[string]string)}
		for i, standing := range c.standings {
			s.Bootstrap[fmt.Sprint(i)] = httpapi.Standing(standing)
		}
		f := begins(s)
		if f.Fine != c.fine || !strings.Contains(f.Found, c.found) || !strings.Contains(f.Advice, c.advice) || (f.Advice == "") != c.fine {
			t.Errorf("%v: %+v", c.standings, f)
		}
		var text strings.Builder
		if err := printStatus(&text, statusAndSources{Status: s}); err != nil || !strings.Contains(text.String(), "\nbootstrap peers      "+f.Found+"\n") {
			t.Errorf("%v: status says %q, %v", c.standings, &text, err)
		}
	}
}

// TestDoctorSeed: links of another seed are something to mend.
func TestDoctorSeed(t *testing.T) {
	if f := links(httpapi.Status{Figures: node.Figures{Links: 3, OtherSeed: 2}}); f.Fine || !strings.Contains(f.Found, "2 of them of another seed") || f.Advice == "" {
		t.Errorf("%+v", f)
	}
	if f := links(httpapi.Status{Figures: node.Figures{Links: 3}}); !f.Fine || f.Advice != "" {
		t.Errorf("%+v", f)
	}
}
