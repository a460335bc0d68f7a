package view

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/node/httpapi"
	"github.com/venn-p2p/venn/summary"
)

// follow returns the lines that a follower gets before the feed is quiet.
func follow(t *testing.T, f *Feed, p *place) (lines []string) {
	t.Helper()
	for {
		got, _, _ := f.next(p)
		if len(got) == 0 {
			return lines
		}
		for _, l := range got {
			lines = append(lines, string(l))
		}
	}
}

func TestFeedGivesEveryFollowerAll(t *testing.T) {
	f := NewFeed(Header{Source: "testnet", Network: "n"}, 0)
	var early place
	follow(t, f, &early)
	f.Publish(Peer{N: 0, Name: "a"}, Status{N: 0, Keys: 1}, Status{N: 0, Keys: 1}, Status{N: 0, Keys: 2})
	for range 2 { // the second says nothing new
		f.Publish(Mirror{0, httpapi.Mirror{Files: 2, Recent: []httpapi.Fetch{{Name: "go/a"}}}})
	}
	var late place
	all := follow(t, f, &late)
	if len(all) != 5 || !strings.HasPrefix(all[0], `{"venn_view":1,`) || !strings.HasPrefix(all[4], `{"type":"mirror"`) || !strings.Contains(all[4], `"files":2`) {
		t.Fatalf("a late follower got %q, want a header, a peer, two statuses and a mirror", all)
	}
	if got := follow(t, f, &early); len(got) != 4 || got[3] != all[4] {
		t.Errorf("an early follower got %q after the header", got)
	}
}

func TestHeldIsWhatChanged(t *testing.T) {
	f := NewFeed(Header{}, 0)
	f.Publish(Peer{N: 0}, Held{0, []Cell{{1, 1, 10, 1}, {2, 1, 10, 1}}})
	f.Publish(Held{0, []Cell{{1, 1, 10, 1}, {2, 2, 20, 2}}}, Held{0, []Cell{{1, 1, 10, 1}, {2, 2, 20, 2}}}, Held{0, []Cell{{2, 2, 20, 2}}})
	var p place
	lines := follow(t, f, &p)
	if len(lines) != 5 || !strings.Contains(lines[3], `"held":[[2,2,20,2]]`) || !strings.Contains(lines[4], `"held":[[1,0,0,0]]`) {
		t.Errorf("lines %q, want all, then the second cell, then the first one gone", lines)
	}
}

// A long run keeps bounded memory: the history gives way to the present state, which late followers get.
func TestHistoryGivesWay(t *testing.T) {
	f := NewFeed(Header{}, 4<<10)
	var prompt, slow place
	f.Publish(Peer{N: 0, Name: "a", Self: true})
	follow(t, f, &prompt)
	follow(t, f, &slow)
	got := 0
	for i := range 500 {
		f.Publish(Status{N: 0, Keys: i + 1}, Held{0, []Cell{{1, i + 1, i, 1}}})
		for _, l := range follow(t, f, &prompt) {
			if strings.Contains(l, "venn_view") {
				t.Fatal("a follower that read all had to begin again")
			}
			got++
		}
	}
	if got != 1000 {
		t.Errorf("a prompt follower got %d events of 1000", got)
	}
	if f.bytes > 8<<10 {
		t.Errorf("the feed keeps %d bytes", f.bytes)
	}
	lines := follow(t, f, &slow)
	if !strings.Contains(lines[0], "venn_view") || !strings.Contains(lines[1], `"name":"a"`) {
		t.Errorf("a slow follower goes on with %q, want a header and the peers", lines[:2])
	}
	last := strings.Join(lines, "")
	if !strings.Contains(last, `"keys":500`) || !strings.Contains(last, `[1,500,499,1]`) {
		t.Error("the last state is not among what a slow follower gets")
	}
}

// TestChangesAreHeardOf hands a watch the events of a node: its own tails are shown, and each version of another that
// is newer.
func TestChangesAreHeardOf(t *testing.T) {
	f := NewFeed(Header{}, 0)
	w := NewWatch(f, false)
	self, other := w.number("self"), peer.ID("other")
	first, second := summary.Epoch{Generation: 1, Sequence: 1}, summary.Epoch{Generation: 1, Sequence: 2}
	events := make(chan any, 10)
	for _, e := range []any{
		node.EvtTailLearned{Origin: "self", Epoch: first, Number: 3, Added: 4, Removed: 5},
		node.EvtSummaryLearned{Origin: other, Epoch: first, Parts: 1},
		node.EvtTailLearned{Origin: other, Epoch: first, Number: 2},
		node.EvtTailLearned{Origin: other, Epoch: first, Number: 1}, // late
		node.EvtSummaryLearned{Origin: other, Epoch: first, Parts: 7},
		node.EvtSummaryLearned{Origin: other, Epoch: second, Parts: 1},
	} {
		events <- e
	}
	close(events)
	w.hear(self, events)
	var versions [][2]int64
	for _, l := range w.learned[self] {
		versions = append(versions, [2]int64{int64(l.epoch.Sequence), int64(l.tail)})
	}
	if want := [][2]int64{{1, 0}, {1, 2}, {2, 0}}; !slices.Equal(versions, want) {
		t.Errorf("heard of %v, want %v", versions, want)
	}
	w.flush(time.Hour)
	all := string(bytes.Join(f.lines, nil))
	if !strings.Contains(all, `"type":"tail"`) || !strings.Contains(all, `"n":0,"sequence":1,"number":3,"added":4,"removed":5}`) {
		t.Errorf("no tail in %s", all)
	}
}

func TestStrangersAreNumberedUpToALimit(t *testing.T) {
	w := NewWatch(NewFeed(Header{}, 0), false)
	for i := range maxNumbers {
		w.number(peer.ID(fmt.Sprint("peer", i)))
	}
	if got, again := w.number("one more"), w.number("peer7"); got != -1 || again != 7 {
		t.Errorf("numbers %d and %d, want -1 and 7", got, again)
	}
}

// A viewer that never reads costs nobody anything: publishing goes on, and the viewer is left.
func TestStuckViewer(t *testing.T) {
	f := NewFeed(Header{}, 0)
	s := httptest.NewServer(Handler(Config{Source: f}))
	defer s.Close()
	conn := must(net.Dial("tcp", strings.TrimPrefix(s.URL, "http://")))
	defer func() { _ = conn.Close() }()
	fmt.Fprintf(conn, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
	for f.Viewers() == 0 {
		time.Sleep(time.Millisecond)
	}
	published := make(chan bool)
	go func() {
		for i := range 20_000 {
			f.Publish(Query{N: i, Key: strings.Repeat("k", 400)})
		}
		close(published)
	}()
	select {
	case <-published:
	case <-time.After(time.Minute):
		t.Fatal("publishing waits for a viewer that does not read")
	}
	f.Close()
}

func TestActing(t *testing.T) {
	f := NewFeed(Header{}, 0)
	changed := 0
	config := Config{
		Source: f,
		Ask: func(_ context.Context, peer int, key []byte, all bool) (Query, error) {
			return Query{N: peer, Key: string(key), All: all}, nil
		},
		Change: func(_ context.Context, _, add, remove int) (int, int, error) {
			changed++
			return add, remove, nil
		},
	}
	can, cannot := httptest.NewServer(httpapi.Guard(Handler(config))), httptest.NewServer(httpapi.Guard(Handler(Config{Source: f})))
	defer can.Close()
	defer cannot.Close()
	for _, c := range []struct {
		url, body, origin string
		want              int
	}{
		{can.URL + "/ask", `{"peer":3,"key":"k"}`, "", 200},
		{can.URL + "/ask", `{"peer":3,"key":""}`, "", 422},
		{can.URL + "/ask", `{`, "", 400},
		{can.URL + "/ask", `{"key":"` + strings.Repeat("k", 5000) + `"}`, "", 400},
		{can.URL + "/ask", `{"peer":3,"key":"k"}`, "https://evil.example", 403},
		{can.URL + "/change", `{"peer":3,"add":10}`, "", 200},
		{can.URL + "/change", `{"peer":3,"add":-1}`, "", 422},
		{can.URL + "/change", `{"peer":3,"remove":1001}`, "", 422},
		{can.URL + "/change", `{"peer":3,"add":10}`, "https://evil.example", 403},
		{cannot.URL + "/ask", `{"peer":3,"key":"k"}`, "", 403},
		{cannot.URL + "/change", `{"peer":3,"add":10}`, "", 403},
	} {
		r := must(http.NewRequest(http.MethodPost, c.url, strings.NewReader(c.body)))
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		resp := must(http.DefaultClient.Do(r))
		_ = resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("%s %.60s from %q: %d, want %d", c.url, c.body, c.origin, resp.StatusCode, c.want)
		}
	}
	if changed != 1 {
		t.Errorf("%d changes, want the one that is right", changed)
	}
}

func TestSlowBodiesTakeNoPlace(t *testing.T) {
	s := httptest.NewServer(Handler(Config{
		Source: NewFeed(Header{}, 0), Ask: func(context.Context, int, []byte, bool) (Query, error) { return Query{}, nil },
	}))
	defer s.CloseClientConnections()
	for range maxAsking {
		c := must(net.Dial("tcp", s.Listener.Addr().String()))
		defer func() { _ = c.Close() }()
		_, _ = io.WriteString(c, "POST /ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n")
		if line, err := bufio.NewReader(c).ReadString('\n'); !strings.Contains(line, "100") { // the body is awaited
			t.Fatal(line, err)
		}
	}
	resp := must(http.Post(s.URL+"/ask", "", strings.NewReader(`{"key":"k"}`)))
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("%d, want 200", resp.StatusCode)
	}
}

func TestRecording(t *testing.T) {
	f := NewFeed(Header{Source: "testnet", Network: "n", Program: "v1"}, 0)
	f.Publish(Peer{N: 0, Name: "a"}, Status{N: 0, Keys: 7}, Report{json.RawMessage(`{"peers":1}`)})
	f.Close()
	name := filepath.Join(t.TempDir(), "run.ndjson")
	var b bytes.Buffer
	if err := Record(t.Context(), f, &b); err != nil {
		t.Fatal(err)
	}
	whole := b.String()
	var last Header
	if err := json.Unmarshal([]byte(strings.SplitN(whole, "\n", 2)[0]), &last); err != nil || last.Version != Version || last.Program != "v1" {
		t.Errorf("header %+v, %v", last, err)
	}
	open := func(text string) (*Recording, string, error) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(name)
		if err != nil {
			return nil, "", err
		}
		var got strings.Builder
		err = r.Follow(t.Context(), func(lines [][]byte) error {
			for _, l := range lines {
				got.Write(l)
			}
			return nil
		})
		return r, got.String(), err
	}
	if r, got, err := open(whole); err != nil || r.Cut || got != whole {
		t.Errorf("a whole recording: %v, %+v, %q", err, r, got)
	}
	r, got, err := open(whole[:len(whole)-5])
	if err != nil || !r.Cut || strings.Count(got, "\n") != 3 {
		t.Errorf("a cut recording: %v, %+v, %q", err, r, got)
	}
	for what, text := range map[string]string{
		"empty":   "",
		"text":    "hello\n",
		"object":  "{}\n",
		"later":   strings.Replace(whole, `"venn_view":1`, `"venn_view":2`, 1),
		"garbage": strings.Replace(whole, `{"type":"status"`, `"type":"status"`, 1),
	} {
		if _, _, err := open(text); !errors.Is(err, ErrRecording) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line that says it is no recording", what, err)
		}
	}
	if _, err := Open(name + ".none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// The page is small, and its libraries are those that are listed.
func TestWeightAndSources(t *testing.T) {
	raw, zipped := 0, 0
	err := fs.WalkDir(web, "web", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(web, name)
		if err != nil {
			return err
		}
		var z bytes.Buffer
		w, _ := gzip.NewWriterLevel(&z, gzip.BestCompression)
		_, _ = w.Write(b)
		_ = w.Close()
		raw += len(b)
		zipped += z.Len()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes, %d compressed", raw, zipped)
	if raw > 500_000 || zipped > 150_000 {
		t.Errorf("the page has %d bytes, %d compressed, want at most 500 kB and 150 kB", raw, zipped)
	}
	sources := must(fs.ReadFile(web, "web/vendor/SOURCES.tsv"))
	listed := map[string]bool{"SOURCES.tsv": true, "LICENSES.txt": true}
	for in := bufio.NewScanner(bytes.NewReader(sources)); in.Scan(); {
		f := strings.Split(in.Text(), "\t")
		if strings.HasPrefix(f[0], "#") {
			continue
		}
		listed[f[0]] = true
		b, err := fs.ReadFile(web, "web/vendor/"+f[0])
		if sum := sha256.Sum256(b); err != nil || hex.EncodeToString(sum[:]) != f[5] {
			t.Errorf("%s is not the file of %s@%s: %v", f[0], f[1], f[2], err)
		}
	}
	all := must(fs.ReadDir(web, "web/vendor"))
	for _, e := range all {
		if !listed[e.Name()] {
			t.Errorf("SOURCES.tsv does not list %s", e.Name())
		}
	}
}

// must returns v. It panics on an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestViewersShare: viewers at one address that take all places leave one to a viewer at another.
func TestViewersShare(t *testing.T) {
	h := Handler(Config{Source: waits{}})
	view := func(address string) (status <-chan int) {
		ended := make(chan int, 1)
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/events", nil)
		r.RemoteAddr = address + ":1"
		go func() {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			ended <- w.Code
		}()
		return ended
	}
	for refused := false; !refused; {
		select {
		case code := <-view("10.0.0.1"):
			refused = code == http.StatusServiceUnavailable
		case <-time.After(50 * time.Millisecond):
		}
	}
	select {
	case code := <-view("10.9.0.1"):
		t.Errorf("another address is answered %d, want that it watches", code)
	case <-time.After(100 * time.Millisecond):
	}
}

// waits is a source without lines that does not end.
type waits struct{}

func (waits) Follow(ctx context.Context, _ func([][]byte) error) error {
	<-ctx.Done()
	return ctx.Err()
}
