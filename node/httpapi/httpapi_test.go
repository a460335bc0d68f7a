package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/venn-p2p/venn/node"
)

// newNode returns a node on a cheap host on loopback.
func newNode(t *testing.T, opts ...node.Option) *node.Node {
	t.Helper()
	h, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.ResourceManager(&network.NullResourceManager{}),
		libp2p.ConnectionManager(connmgr.NullConnMgr{}), libp2p.DisableRelay(), libp2p.DisableMetrics())
	if err != nil {
		t.Fatal(err)
	}
	n := must(node.New(h, opts...))
	t.Cleanup(func() { _, _ = n.Close(), h.Close() })
	return n
}

func add(t *testing.T, n *node.Node, keys ...string) {
	t.Helper()
	var all [][]byte // one summary has them all
	for _, k := range keys {
		key := must(ParseKey(k))
		all = append(all, key)
	}
	must(n.Add(t.Context(), all...))
}

// two returns two nodes that know each other's summary; the second holds "there" and a CID.
func two(t *testing.T) (here, there *node.Node) {
	t.Helper()
	here, there = newNode(t), newNode(t, node.WithJoins())
	add(t, here, "here", "both")
	add(t, there, "there", "both", someCID)
	if err := here.Connect(t.Context(), *host.InfoFromHost(there.Host())); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		_, err1 := here.SummaryOf(t.Context(), there.ID())
		_, err2 := there.SummaryOf(t.Context(), here.ID())
		if err1 == nil && err2 == nil {
			return here, there
		}
		if time.Now().After(end) {
			t.Fatal(err1, err2)
		}
	}
}

const someCID = "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy"

func listed(keys ...string) func(context.Context) iter.Seq2[[]byte, error] {
	return func(context.Context) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			for _, k := range keys {
				if !yield([]byte(k), nil) {
					return
				}
			}
		}
	}
}

// serve serves a handler until the test ends, and returns where.
func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func ask(t *testing.T, method, u, body string) (status int, kind, answer string) {
	t.Helper()
	req := must(http.NewRequestWithContext(t.Context(), method, u, strings.NewReader(body)))
	resp := must(http.DefaultClient.Do(req))
	defer func() { _ = resp.Body.Close() }()
	b := must(io.ReadAll(resp.Body))
	return resp.StatusCode, resp.Header.Get("Content-Type"), string(b)
}

// TestOpenAPI holds the server to its description: every path is described, every one described is served, and answers
// have the form that it says.
func TestOpenAPI(t *testing.T) {
	here, there := two(t)
	ended := 0
	c := Config{Node: here, Keys: listed("here", "both"), Level: new(slog.LevelVar), Shutdown: func() { ended++ }}
	var doc description
	if err := json.Unmarshal(openapiJSON, &doc); err != nil {
		t.Fatal(err)
	}
	routes := newAPI(c, "").routes()
	at := serve(t, Control(c))
	calls := []struct {
		method, path, parameters, body string
		fails                          bool
	}{
		{"GET", "/api/v1/id", "", "", false},
		{"GET", "/api/v1/status", "", "", false},
		{"GET", "/api/v1/peers", "", "", false},
		{"GET", "/api/v1/neighbours", "", "", false},
		{"GET", "/api/v1/similar", "", "", false},
		{"GET", "/api/v1/similar", "top=2", "", false},
		{"GET", "/api/v1/similar", "top=0", "", true},
		{"GET", "/api/v1/overlap", "peer=" + there.ID().String(), "", false},
		{"GET", "/api/v1/overlap", "peer=nobody", "", true},
		{"GET", "/api/v1/overlap", "peer=" + here.ID().String() + "&with=" + newNode(t).ID().String(), "", true},
		{"GET", "/api/v1/find", "key=there", "", false},
		{"GET", "/api/v1/find", "key=both&all=true", "", false},
		{"GET", "/api/v1/find", "key=nobody", "", false},
		{"GET", "/api/v1/find", "key=hex:x", "", true},
		{"GET", "/api/v1/find", "key=a&count=-1", "", true},
		{"GET", "/api/v1/find", "key=a&all=maybe", "", true},
		{"GET", "/api/v1/find", "key=a&wait_ms=9223372036854775807", "", true}, // nanoseconds that overflow
		{"GET", "/api/v1/find", "key=a&timeout_ms=9223372036854775807", "", true},
		{"POST", "/api/v1/cover", "top=2", "there\nboth\nnobody\n", false},
		{"POST", "/api/v1/cover", "top=0", "there", true},
		{"POST", "/api/v1/cover", "", "hex:0", true},
		{"GET", "/api/v1/join", "peer=" + there.ID().String(), "", false},
		{"GET", "/api/v1/join", "others=true", "", true},
		{"GET", "/api/v1/join", "peer=" + there.ID().String() + "&others=2", "", true},
		{"GET", "/api/v1/join", "peer=" + there.ID().String() + "&others=tr%zzue", "", true},
		{"GET", "/api/v1/join", "peer=" + there.ID().String() + "&others=false&others=true", "", true},
		{"GET", "/api/v1/join", "peer=" + there.ID().String() + "&peer=" + here.ID().String(), "", false},
		{"GET", "/api/v1/join", "peer=nobody", "", true},
		{"GET", "/api/v1/keys", "", "", false},
		{"POST", "/api/v1/keys/add", "", "one\ntwo\n", false},
		{"POST", "/api/v1/keys/add", "private=true", "three", false},
		{"POST", "/api/v1/keys/add", "private=1", "three", false},
		{"POST", "/api/v1/keys/add", "private=yes", "published by mistake", true},
		{"POST", "/api/v1/keys/add", "privat=true", "published by mistake", true},
		{"POST", "/api/v1/keys/add", "private", "published by mistake", true},
		{"POST", "/api/v1/keys/add", "private=true;", "published by mistake", true},
		{"POST", "/api/v1/keys/add", "line=1;private=true", "published by mistake", true},
		{"POST", "/api/v1/keys/add", "private=false&private=true", "published by mistake", true},
		{"POST", "/api/v1/keys/add", "private=tr%zzue", "published by mistake", true},
		{"POST", "/api/v1/keys/add", "", "hex:0", true},
		{"POST", "/api/v1/keys/remove", "line=20000", "one", false},
		{"POST", "/api/v1/keys/has", "line=0", "one", true},
		{"POST", "/api/v1/keys/remove", "", "one", false},
		{"POST", "/api/v1/keys/has", "", "one\ntwo\n\n" + someCID, false},
		{"POST", "/api/v1/connect", "peer=" + url.QueryEscape(Addresses(*host.InfoFromHost(there.Host()), *host.InfoFromHost(here.Host()))[0]), "", false},
		{"POST", "/api/v1/connect", "peer=x", "", true},
		{"GET", "/api/v1/openapi.json", "", "", false},
		{"GET", "/api/v1/ping", "peer=" + there.ID().String(), "", false},
		{"GET", "/api/v1/ping", "peer=nobody", "", true},
		{"GET", "/api/v1/events", "count=1", "", false},
		{"GET", "/api/v1/events", "count=x", "", true},
		{"POST", "/api/v1/log", "level=debug", "", false},
		{"POST", "/api/v1/log", "", "", false},
		{"POST", "/api/v1/log", "level=loud", "", true},
		{"POST", "/api/v1/disconnect", "peer=" + there.ID().String(), "", false},
		{"POST", "/api/v1/disconnect", "peer=" + newNode(t).ID().String(), "", true},
		{"GET", "/api/v1/backup", "", "", true},
		{"POST", "/api/v1/shutdown", "", "", false},
	}
	for pattern := range routes {
		method, path, _ := strings.Cut(pattern, " ")
		if status, _, answer := ask(t, method, at+path+"?keey=there", ""); status != http.StatusBadRequest || !strings.Contains(answer, "keey") {
			t.Errorf("%s with a parameter that is none: status %d: %s", pattern, status, answer)
		}
	}
	called := make(map[string]bool)
	for _, call := range calls {
		called[call.method+" "+call.path] = true
		op, ok := doc.Paths[call.path][strings.ToLower(call.method)]
		if !ok {
			t.Errorf("%s %s is not described", call.method, call.path)
			continue
		}
		status, kind, answer := ask(t, call.method, at+call.path+"?"+call.parameters, call.body)
		described := op.Responses["200"]
		if call.fails {
			described = op.Responses["default"]
		}
		if call.fails != (status != http.StatusOK) {
			t.Errorf("%s %s?%s: status %d: %s", call.method, call.path, call.parameters, status, answer)
		}
		content, ok := described.Content[kind]
		if !ok {
			t.Errorf("%s %s: answers %s, described are %v", call.method, call.path, kind, described.Content)
			continue
		}
		for d := json.NewDecoder(strings.NewReader(answer)); d.More(); {
			var v any
			if err := d.Decode(&v); err != nil {
				t.Fatal(err)
			}
			if err := doc.holds(content.Schema, v); err != nil {
				t.Errorf("%s %s?%s: %v in %s", call.method, call.path, call.parameters, err, answer)
			}
		}
	}
	if must(here.Has([]byte("published by mistake"))) {
		t.Error("keys whose parameters were not understood are held")
	}
	if ended != 1 || c.Level.Level() != slog.LevelDebug {
		t.Errorf("ended %d times, want once; level %v, want debug", ended, c.Level.Level())
	}
	described := 0
	for path, ops := range doc.Paths {
		for method := range ops {
			described++
			if pattern := strings.ToUpper(method) + " " + path; routes[pattern] == nil || !called[pattern] {
				t.Errorf("%s is described, but not served or not called here", pattern)
			}
		}
	}
	if described != len(routes) {
		t.Errorf("%d paths are described, %d served", described, len(routes))
	}
}

// description is as much of OpenAPI as openapi.json uses.
type description struct {
	Paths map[string]map[string]struct {
		Responses map[string]struct {
			Content map[string]struct{ Schema schema }
		}
	}
	Components struct{ Schemas map[string]schema }
}

type schema struct {
	Ref                  string `json:"$ref"`
	Type                 string
	Enum                 []string
	Properties           map[string]schema
	Required             []string
	AdditionalProperties any
	Items                *schema
	OneOf                []schema
}

// holds says how v is not what s describes.
func (d *description) holds(s schema, v any) error {
	if s.Ref != "" {
		return d.holds(d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")], v)
	}
	if len(s.OneOf) > 0 {
		matches := 0
		for _, o := range s.OneOf {
			if d.holds(o, v) == nil {
				matches++
			}
		}
		if matches != 1 {
			return fmt.Errorf("%v is %d of the forms described", v, matches)
		}
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		return d.holdsObject(s, v)
	case []any:
		if s.Type != "array" {
			return fmt.Errorf("an array where %q is described", s.Type)
		}
		for _, x := range v {
			if err := d.holds(*s.Items, x); err != nil {
				return err
			}
		}
		return nil
	}
	ok := false
	switch v := v.(type) {
	case string:
		ok = s.Type == "string" && (s.Enum == nil || strings.Contains("|"+strings.Join(s.Enum, "|")+"|", "|"+v+"|"))
	case bool:
		ok = s.Type == "boolean"
	case float64:
		ok = s.Type == "number" || s.Type == "integer" && v == float64(int64(v))
	}
	if !ok {
		return fmt.Errorf("%v where %q %v is described", v, s.Type, s.Enum)
	}
	return nil
}

func (d *description) holdsObject(s schema, v map[string]any) error {
	if s.Type != "object" {
		return fmt.Errorf("an object where %q is described", s.Type)
	}
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return fmt.Errorf("no %s", name)
		}
	}
	for name, x := range v {
		if p, ok := s.Properties[name]; ok {
			if err := d.holds(p, x); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		} else if s.AdditionalProperties == false {
			return fmt.Errorf("%s is not described", name)
		}
	}
	return nil
}

func TestDelegatedRouting(t *testing.T) {
	here, there := two(t)
	add(t, here, "bafkreifzjut3te7nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e")
	at := serve(t, Public(Config{Node: here}))
	for accept, want := range map[string]string{"application/json": "application/json", "application/x-ndjson": "application/x-ndjson"} {
		req := must(http.NewRequestWithContext(t.Context(), "GET", at+"/routing/v1/providers/"+someCID, nil))
		req.Header.Set("Accept", accept)
		resp := must(http.DefaultClient.Do(req))
		b, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if got := resp.Header.Get("Content-Type"); !strings.HasPrefix(got, want) || !strings.Contains(string(b), there.ID().String()) {
			t.Errorf("%s: %s %s", accept, got, b)
		}
	}
	for request, want := range map[string]struct {
		status int
		holds  string
	}{
		"GET /routing/v1/providers/bafkreifzjut3te7nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e": {200, here.ID().String()},
		"PUT /routing/v1/providers/":                   {501, "only GET"},
		"PUT /routing/v1/providers":                    {501, "only GET"},
		"PUT /routing/v1/ipns/x":                       {501, "only GET"},
		"GET /routing/v1/ipns/x":                       {501, "only GET"},
		"GET /routing/v1/dht/closest/peers/x":          {501, "only GET"},
		"GET /routing/v1/nothing":                      {404, ""},
		"GET /routing/v1/peers/" + there.ID().String(): {200, "/ip4/127.0.0.1/tcp/"},
		"GET /routing/v1/providers/none":               {400, "CID"},
		"GET /health/live":                             {200, "true"},
		"GET /health/ready":                            {200, "true"},
		"GET /api/v1/status":                           {404, ""},
		"GET /debug/pprof/":                            {404, ""},
	} {
		method, path, _ := strings.Cut(request, " ")
		if status, _, answer := ask(t, method, at+path, "{}"); status != want.status || !strings.Contains(answer, want.holds) {
			t.Errorf("%s: %d %s", request, status, answer)
		}
	}
}

func TestLimits(t *testing.T) {
	n := newNode(t)
	at := serve(t, Control(Config{Node: n, Keys: listed(), MaxBody: 100}))
	if status, _, answer := ask(t, "POST", at+"/api/v1/keys/add", strings.Repeat("key\n", 100)); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a body over the limit: %d %s", status, answer)
	}
	if status, _, answer := ask(t, "POST", at+"/api/v1/keys/add", "\n"+strings.Repeat("k", 50)+"\nhex:"); status != http.StatusBadRequest || !strings.Contains(answer, "line 3") {
		t.Errorf("an empty key: %d %s", status, answer)
	}
	if n.Len() != 0 {
		t.Errorf("%d keys came through", n.Len())
	}

	started, blocked := make(chan struct{}), make(chan struct{})
	slow := func(context.Context) iter.Seq2[[]byte, error] {
		return func(func([]byte, error) bool) {
			close(started)
			<-blocked
		}
	}
	at = serve(t, Control(Config{Node: n, Keys: slow, MaxRequests: 1, Registry: prometheus.NewRegistry()}))
	done := make(chan struct{})
	go func() {
		defer close(done)
		if resp, err := http.Get(at + "/api/v1/keys"); err == nil {
			_ = resp.Body.Close()
		}
	}()
	<-started
	if status, _, answer := ask(t, "GET", at+"/api/v1/id", ""); status != http.StatusServiceUnavailable {
		t.Errorf("a second request at once: %d %s", status, answer)
	}
	for _, path := range []string{"/health/live", "/health/ready"} {
		if status, _, answer := ask(t, "GET", at+path, ""); status != http.StatusOK {
			t.Errorf("%s beside it: %d %s", path, status, answer)
		}
	}
	_, _, metrics := ask(t, "GET", at+"/debug/metrics/prometheus", "")
	for _, line := range []string{`venn_http_requests{api="control"} 1`, `venn_http_refused_total{api="control"} 1`} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("no %s in\n%s", line, metrics)
		}
	}
	close(blocked)
	<-done
}

// getFrom asks from an address of this machine, until the test ends, and for 20 s at most.
func getFrom(t *testing.T, ip, url string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
	client := http.Client{Transport: &http.Transport{DialContext: d.DialContext, DisableKeepAlives: true}, Timeout: 20 * time.Second}
	return client.Do(req)
}

// TestQuickPlaces: metrics and health have few places. Whoever holds all has one taken for a client of another network.
func TestQuickPlaces(t *testing.T) {
	begun, ended := make(chan string, mostQuick), make(chan string, mostQuick)
	a := newAPI(Config{Node: newNode(t)}, "own")
	at := serve(t, a.soon(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		ip, _, _ := net.SplitHostPort(r.RemoteAddr)
		begun <- ip
		<-r.Context().Done()
		ended <- ip
	})))
	ask := func(ip string) {
		if resp, err := getFrom(t, ip, at); err == nil {
			_ = resp.Body.Close()
		}
	}
	for range mostQuick {
		go ask("127.0.1.1")
	}
	for range mostQuick {
		<-begun
	}
	resp := must(getFrom(t, "127.0.1.1", at))
	if _ = resp.Body.Close(); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one more: status %d", resp.StatusCode)
	}
	go ask("127.0.2.1")
	if in, out := <-begun, <-ended; in != "127.0.2.1" || out != "127.0.1.1" {
		t.Errorf("%s has a place, that of %s", in, out)
	}
}

// TestSlowLookupsLeavePlaces: whoever holds all places has one taken for a client of another network.
func TestSlowLookupsLeavePlaces(t *testing.T) {
	const places = 8
	begun, ended := make(chan struct{}, places), make(chan struct{}, places)
	slow := func(ctx context.Context) iter.Seq2[[]byte, error] {
		return func(func([]byte, error) bool) {
			begun <- struct{}{}
			<-ctx.Done()
			ended <- struct{}{}
		}
	}
	at := serve(t, Control(Config{Node: newNode(t), Keys: slow, MaxRequests: places}))
	for range places {
		go func() {
			if resp, err := getFrom(t, "127.0.1.1", at+"/api/v1/keys"); err == nil {
				_ = resp.Body.Close()
			}
		}()
	}
	for range places {
		<-begun
	}
	resp := must(getFrom(t, "127.0.2.1", at+"/api/v1/id"))
	if _ = resp.Body.Close(); resp.StatusCode != http.StatusOK {
		t.Errorf("a client of another network: status %d", resp.StatusCode)
	}
	<-ended
	if len(ended) > 0 {
		t.Errorf("%d more lookups were ended", len(ended))
	}
}

func TestMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	n := newNode(t, node.WithRegisterer(registry))
	add(t, n, "a", "b")
	at := serve(t, Public(Config{Node: n, Registry: registry}))
	_, _, answer := ask(t, "GET", at+"/debug/metrics/prometheus", "")
	for in := bufio.NewScanner(strings.NewReader(answer)); in.Scan(); {
		if in.Text() == "venn_keys 2" {
			return
		}
	}
	t.Errorf("no venn_keys 2 in\n%s", answer)
}

// must returns v of what cannot fail.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
