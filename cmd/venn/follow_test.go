package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ipfs/go-cid"
	mh "github.com/multiformats/go-multihash"

	"github.com/venn-p2p/venn/cmd/venn/daemon"
	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node/httpapi"
)

// listing is an IPFS node that serves only its lists.
type listing struct {
	t      *testing.T
	blocks []string // CIDs
	pins   []string
	fault  string   // the error at the end of the list; empty: none
	serves []string // multiaddrs; none: the node does not say
}

func (l *listing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		l.t.Errorf("%s %s", r.Method, r.URL)
	}
	w.Header().Set("Trailer", "X-Stream-Error")
	enc := json.NewEncoder(w)
	switch r.URL.String() {
	case "/api/v0/refs/local":
		for _, c := range l.blocks {
			_ = enc.Encode(map[string]string{"Ref": c, "Err": ""})
		}
	case "/api/v0/pin/ls?type=all&stream=true":
		for _, c := range l.pins {
			_ = enc.Encode(map[string]string{"Cid": c, "Type": "indirect"})
		}
	case "/api/v0/id":
		if l.serves == nil {
			http.NotFound(w, r)
			return
		}
		_ = enc.Encode(map[string]any{"ID": "other", "Addresses": l.serves})
	default:
		http.NotFound(w, r)
	}
	w.Header().Set("X-Stream-Error", l.fault)
}

// serve returns the URL of a server that runs until the test ends.
func serve(t *testing.T, h http.Handler) string {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// block is the CID of some content.
func block(t *testing.T, content string) cid.Cid {
	t.Helper()
	h := must(mh.Sum([]byte(content), mh.SHA2_256, -1))
	return cid.NewCidV1(cid.Raw, h)
}

// newDaemon runs a daemon until the test ends, and returns a client of it.
func newDaemon(t *testing.T) *client {
	t.Helper()
	t.Setenv("VENN_DISCOVERY_MDNS", "false")
	t.Setenv("VENN_NAT_PORT_MAP", "false")
	r := newRepo(t)
	ctx, cancel := context.WithCancel(t.Context())
	ready, done := make(chan daemon.Started, 1), make(chan error, 1)
	go func() {
		done <- daemon.Run(ctx, r, daemon.Options{Log: slog.New(slog.DiscardHandler), Ready: func(s daemon.Started) { ready <- s }})
	}()
	select {
	case <-ready:
	case err := <-done:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return clientOf(r)
}

// held are the names of the blocks that the daemon holds.
func held(t *testing.T, cl *client, names ...string) (out string) {
	t.Helper()
	for _, name := range names {
		if err := eachHas(t.Context(), cl, strings.NewReader(block(t, name).String()), func(h httpapi.Has) error {
			if h.Has {
				out += name
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestFollow keeps a peer in step with a node that adds and removes, fails, and ends lists early.
func TestFollow(t *testing.T) {
	cl := newDaemon(t)
	there := &listing{t: t}
	url := serve(t, there)
	f := newFollower(t, cl, url)
	must(sendKeys(t.Context(), cl, strings.NewReader(block(t, "b").String()), "add", nil, func(int) {}))
	for i, look := range []struct {
		listed  string // by the node
		fault   string
		restart bool   // of the follower, before
		held    string // by the peer, then
		followed
	}{
		{listed: "abc", held: "abc", followed: followed{3, 2, 0}},
		{listed: "aabbcc", held: "abc", followed: followed{3, 0, 0}},
		{listed: "a", fault: "the disk is gone", held: "abc", followed: followed{1, 0, 0}},
		{listed: "ad", fault: "and again", held: "abc", followed: followed{2, 0, 0}},
		{listed: "ad", held: "abcd", followed: followed{2, 1, 0}},
		{listed: "d", held: "abd", followed: followed{1, 0, 1}}, // b is not the follower's
		{listed: "ad", held: "abd", followed: followed{2, 0, 0}},
		{listed: "d", restart: true, held: "abd", followed: followed{1, 0, 0}},
		{listed: "d", held: "bd", followed: followed{1, 0, 1}},
		{listed: "d", restart: true, held: "bd", followed: followed{1, 0, 0}},
		{listed: "ace", held: "abcde", followed: followed{3, 3, 0}},
		{listed: "", held: "abce", followed: followed{0, 0, 1}},
		{listed: "", held: "b", followed: followed{0, 0, 3}},
	} {
		if look.restart {
			noErr(t, f.log.Close())
			f = newFollower(t, cl, url)
		}
		there.fault, there.blocks = look.fault, nil
		for _, name := range strings.Split(look.listed, "") {
			there.blocks = append(there.blocks, block(t, name).String())
		}
		did, err := f.look(t.Context())
		if did != look.followed || (err != nil) != (look.fault != "") || err != nil && !strings.Contains(err.Error(), look.fault) {
			t.Fatalf("look %d: %+v, %v", i, did, err)
		}
		if got := held(t, cl, "a", "b", "c", "d", "e"); got != look.held {
			t.Fatalf("look %d: %s are held, want %s", i, got, look.held)
		}
	}
	noErr(t, f.log.Close())
}

func newFollower(t *testing.T, cl *client, apis ...string) *follower {
	t.Helper()
	f := &follower{cl: cl, source: kuboNodes(apis, false)}
	noErr(t, f.open(t.Context()))
	return f
}

// TestTwoFollowers: content that two sources have stays until neither has it.
func TestTwoFollowers(t *testing.T) {
	cl := newDaemon(t)
	one, two := &listing{t: t, blocks: []string{block(t, "a").String()}}, &listing{t: t, blocks: []string{block(t, "a").String(), block(t, "b").String()}}
	var followers []*follower
	for _, l := range []*listing{one, two} {
		f := newFollower(t, cl, serve(t, l))
		defer func() { _ = f.log.Close() }()
		followers = append(followers, f)
	}
	must(sendKeys(t.Context(), cl, strings.NewReader(block(t, "b").String()), "add", nil, func(int) {}))
	look := func(want string) {
		t.Helper()
		for range 3 {
			for _, f := range followers {
				must(f.look(t.Context()))
			}
		}
		if got := held(t, cl, "a", "b"); got != want {
			t.Fatalf("%s are held, want %s", got, want)
		}
	}
	look("ab")
	one.blocks = nil
	look("ab")
	one.blocks, two.blocks = two.blocks, nil
	look("ab")
	one.blocks = nil
	look("b") // which neither added
}

// TestFollowGone: the keys of a node that two looks find gone are suspended, and come back with it. Its addresses are
// those that it says now.
func TestFollowGone(t *testing.T) {
	const at = "/ip4/127.0.0.1/tcp/%d/p2p/12D3KooWQRVvCjvCuzHQAdsN9rdqrs1YwaHtM4j9mS2VPSjf5FD2"
	cl := newDaemon(t)
	there := &listing{t: t, blocks: []string{block(t, "a").String()}, serves: []string{fmt.Sprintf(at, 1), "/ip4/127.0.0.1/tcp/1"}}
	var gone, silent atomic.Bool
	stopped := make(chan struct{})
	url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case gone.Load():
			panic(http.ErrAbortHandler)
		case silent.Load():
			<-stopped
		default:
			there.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() { close(stopped) })
	f := newFollower(t, cl, url)
	look := func(wantHeld, wantServer, wantNews, wantState string) {
		t.Helper()
		_, err := f.look(t.Context())
		if got := held(t, cl, "a"); got != wantHeld {
			t.Errorf("%q is held, want %q", got, wantHeld)
		}
		if text := f.news(err, time.Second); !strings.Contains(text, wantNews) || (text == "") != (wantNews == "") {
			t.Errorf("it says %q, want %q", text, wantNews)
		}
		sources, err := cl.repo.Sources()
		if err != nil || len(sources) != 1 || strings.Join(sources[0].Servers, " ") != wantServer || !strings.Contains(sourceState(sources[0]), wantState) {
			t.Errorf("sources are %+v, %v", sources, err)
		}
		if text := mustVenn(t, "status", "--repo", cl.repo.Dir); !strings.Contains(text, wantState) {
			t.Errorf("status says %q", text)
		}
	}
	look("a", fmt.Sprintf(at, 1), "", "followed")
	there.serves = []string{fmt.Sprintf(at, 2)}
	look("a", fmt.Sprintf(at, 2), "", "followed")
	gone.Store(true)
	look("a", fmt.Sprintf(at, 2), "next look in 1s", "followed")
	look("", "", "suspended until it is back", "its keys are suspended since")
	if _, stdout, _ := venn("doctor", "--repo", cl.repo.Dir); !strings.Contains(stdout, "!!  source") {
		t.Errorf("doctor says %q", stdout)
	}
	gone.Store(false)
	look("a", fmt.Sprintf(at, 2), "", "followed")
	defer func(d time.Duration) { kuboSilence = d }(kuboSilence)
	kuboSilence = 100 * time.Millisecond // its process is stopped
	silent.Store(true)
	look("a", fmt.Sprintf(at, 2), "no answer within 100ms; next look in 1s", "followed")
	look("", "", "suspended", "suspended")

	noErr(t, f.log.Close())
	silent.Store(false)
	kuboSilence = 30 * time.Second
	f = newFollower(t, cl, url)
	there.serves = nil
	look("a", "", "nobody serves the content", "followed")
	noErr(t, f.log.Close())
	if _, _, stderr := venn("keys", "add", "--from", "kubo", url, "--repo", cl.repo.Dir); !strings.Contains(stderr, "nobody serves the content") {
		t.Errorf("it says %q", stderr)
	}
}

// TestFollowAfterFailedAdd adds with the next look what the daemon did not take.
func TestFollowAfterFailedAdd(t *testing.T) {
	cl := newDaemon(t)
	there := &listing{t: t, blocks: []string{block(t, "a").String()}}
	url := serve(t, there)
	f := newFollower(t, cl, url)
	defer func() { _ = f.log.Close() }()
	f.cl = clientOf(repo.Repo{Dir: t.TempDir()}) // no daemon there
	if _, err := f.look(t.Context()); err == nil {
		t.Fatal("a look without a daemon succeeded")
	}
	f.cl = cl
	if did, err := f.look(t.Context()); err != nil || did != (followed{1, 1, 0}) {
		t.Fatalf("%+v, %v", did, err)
	}
}

// TestFollowCommand follows until it is interrupted, and reports what each look did.
func TestFollowCommand(t *testing.T) {
	cl := newDaemon(t)
	there := &listing{t: t, pins: []string{block(t, "a").String()}}
	url := serve(t, there)
	ctx, interrupt := context.WithCancel(t.Context())
	out, stdout := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, strings.Fields("venn keys add --json --from kubo --pins --follow --repo "+cl.repo.Dir+" "+url), stdout, io.Discard)
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != `{"keys":1,"added":1,"removed":0}`+"\n" {
		t.Errorf("%q, %v", line, err)
	}
	if got := held(t, cl, "a"); got != "a" {
		t.Errorf("%q is held", got)
	}
	interrupt()
	if got := <-code; got != exitDone {
		t.Errorf("it ended with %d", got)
	}
}

// TestListKubo reads lists of an IPFS node, and none that is not one.
func TestListKubo(t *testing.T) {
	a, b := block(t, "a"), block(t, "b")
	inline := cid.NewCidV1(cid.Raw, func() mh.Multihash { h, _ := mh.Sum([]byte("x"), mh.IDENTITY, -1); return h }())
	there := &listing{t: t, blocks: []string{a.String()}, pins: []string{cid.NewCidV0(b.Hash()).String(), inline.String()}}
	url := serve(t, there)
	list := func(api string, pins bool) (keys []string, err error) {
		err = listKubo(t.Context(), api, pins, func(key string) error { keys = append(keys, key); return nil })
		return keys, err
	}
	for pins, want := range map[bool]string{false: a.String(), true: b.String()} {
		if got, err := list(url, pins); err != nil || !slices.Equal(got, []string{want}) {
			t.Errorf("%q, %v", got, err)
		}
	}
	for name, answer := range map[string]string{
		"an error":      `{"Ref":"","Err":"no disk"}`,
		"no CID":        `{"Ref":"hello","Err":""}`,
		"another shape": `{"Keys":{}}`,
		"no JSON":       "<html>",
		"half a line":   `{"Ref":"` + a.String(),
	} {
		bad := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) }))
		if _, err := list(bad, false); err == nil {
			t.Errorf("%s was read", name)
		}
	}
	if _, err := list(url+"/elsewhere", false); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("what is not there: %v", err)
	}
	if _, err := list("localhost:5001", false); err == nil {
		t.Error("what is no URL was asked")
	}
}
