package mirror

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

func TestNearHoldersComeFirst(t *testing.T) {
	h := func(name string, ms int, s state) holder {
		return holder{peer.AddrInfo{ID: peer.ID(name)}, s, time.Duration(ms) * time.Millisecond}
	}
	all := []holder{
		h("far", 90, state{place: "b/1"}), h("busy", 1, state{busy: true, place: "a/1"}), h("zone", 1, state{place: "a/2"}),
		h("rack", 1, state{place: "a/1"}), h("deep", 1, state{depth: 2, place: "a/1"}), h("elsewhere", 1, state{}),
	}
	var got []string
	for _, h := range ordered("a/1", all) {
		got = append(got, string(h.ID))
	}
	if want := "rack zone elsewhere far deep busy"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// TestRanksHaveNoCircles lets mirrors take from each other at random, as their ranks allow, and looks for two that wait
// for each other.
func TestRanksHaveNoCircles(t *testing.T) {
	sum := Sum{Plain, [32]byte{1}}
	const n = 30
	ranks, from := make([]rank, n), make([]int, n)
	for i := range ranks {
		ranks[i], from[i] = rankOf(peer.ID([]byte{byte(i)}), sum, undecided), -1
	}
	seed := uint64(1)
	draw := func() int { seed = seed*6364136223846793005 + 1442695040888963407; return int(seed>>33) % n }
	for range 20_000 {
		switch i, j := draw(), draw(); {
		case draw() == 0:
			from[i] = -1 // its source has gone
		case draw() == 0:
			from[i], ranks[i].depth = -1, 0 // it asks the origin
		case from[i] < 0 && ranks[i].depth > 0 && ranks[j].below(ranks[i]):
			from[i], ranks[i].depth = j, min(ranks[i].depth, ranks[j].depth+1)
		}
		for i := range from {
			steps := 0
			for at := i; at >= 0; at = from[at] {
				if steps++; steps > n {
					t.Fatalf("a circle at %d", i)
				}
			}
		}
	}
}

func FuzzParseSum(f *testing.F) {
	f.Add("sha256-" + strings.Repeat("ab", 32))
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := ParseSum(text); err == nil && s.String() != text {
			t.Errorf("%q is %q", text, s)
		}
	})
}

func FuzzParseH1(f *testing.F) {
	f.Add("h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	f.Fuzz(func(_ *testing.T, text string) { _, _ = parseH1(GoZip, text) })
}

func FuzzContentRange(f *testing.F) {
	f.Add("bytes 0-99/100", int64(100))
	f.Fuzz(func(t *testing.T, text string, length int64) {
		got, size, err := contentRange(&http.Response{StatusCode: 206, Header: http.Header{"Content-Range": {text}}, ContentLength: length})
		if err == nil && (got.begin < 0 || got.begin >= got.end || got.end > size) {
			t.Errorf("%q: %v of %d", text, got, size)
		}
	})
}

func FuzzParseState(f *testing.F) {
	f.Add("5", "10", "2", "zone/rack")
	f.Fuzz(func(t *testing.T, have, size, depth, place string) {
		h := http.Header{headerHave: {have}, headerSize: {size}, headerDepth: {depth}, headerPlace: {place}}
		if s := parseState(h); s.have < 0 || s.size < -1 || s.depth < 0 || s.depth > undecided || len(s.place) > maxPlace {
			t.Errorf("%+v", s)
		}
	})
}

// FuzzGoZip checks that damaged modules are refused, without a panic or more memory than they have.
func FuzzGoZip(f *testing.F) {
	f.Add([]byte("PK\x05\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = file.Close() }()
		_ = Sum{Kind: GoZip}.check(file, int64(len(b)), nil)
	})
}

func FuzzBelow(f *testing.F) {
	for _, s := range []string{"a/b", "a/../b", "%2e%2e/x", "a%2fb", "a//b"} {
		f.Add(s)
	}
	base, err := parseURL("https://origin.example/base")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := below(base, text)
		if err == nil && (!strings.HasPrefix(u.Path, "/base/") || slices.Contains(strings.Split(u.Path, "/"), "..") || u.Host != base.Host) {
			t.Errorf("%q: %v", text, u)
		}
	})
}
