package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestOCI(t *testing.T) {
	o, b := newRegistry(t), newBoard()
	layer := some(100_000, 20)
	digest, _ := o.add(layer)
	manifest := []byte(`{"schemaVersion":2,"mediaType":"application/vnd.docker.distribution.manifest.v2+json","layers":[{"digest":"` + digest + `"}]}`)
	at, sum := o.add(manifest)
	o.tags["v1"] = at
	up := Upstream{OCI: []string{"registry.invalid", o.URL}}
	first, second := b.start(t, up), b.start(t, up)
	host := strings.TrimPrefix(o.URL, "http://")
	ns := "?ns=" + host

	for _, path := range []string{"/v2/some/image/manifests/v1" + ns, "/v2/" + host + "/some/image/manifests/v1"} {
		got := get(t, first.url+path)
		got.is(t, manifest)
		if got.header.Get("Docker-Content-Digest") != at || got.header.Get("Age") == "" {
			t.Errorf("%s: header %v", path, got.header)
		}
	}
	head := do(t, http.MethodHead, first.url+"/v2/some/image/manifests/v1"+ns)
	if head.status != http.StatusOK || head.header.Get("Docker-Content-Digest") != at {
		t.Errorf("HEAD of a tag: %d %v", head.status, head.header)
	}
	if n := o.count("GET /v2/some/image/manifests/"); n != 3 {
		t.Errorf("a tag was asked for %d times of 3", n)
	}
	get(t, first.url+blobs+digest+ns).is(t, layer)
	before := o.count("")
	byDigest := get(t, second.url+"/v2/some/image/manifests/"+at+ns)
	byDigest.is(t, manifest)
	if got := byDigest.header.Get("Content-Type"); got != "application/vnd.docker.distribution.manifest.v2+json" {
		t.Errorf("type of a manifest from a peer: %s", got)
	}
	get(t, second.url+blobs+digest+ns).is(t, layer)
	if o.count("") != before || !second.has(sum) {
		t.Errorf("the origin was asked %d times for what a peer has; advertised: %v", o.count("")-before, second.has(sum))
	}
	if got := do(t, http.MethodHead, second.url+blobs+digest+ns); got.status != http.StatusOK || got.header.Get("Content-Length") != "100000" {
		t.Errorf("HEAD of a blob: %d %v", got.status, got.header)
	}
	if got := get(t, first.url+"/v2/"+ns); got.status != http.StatusOK {
		t.Errorf("ping: %d", got.status)
	}
}

// TestOnlyConfigured has clients and origins try to reach what they should not.
func TestOnlyConfigured(t *testing.T) {
	o, b := newRegistry(t), newBoard()
	digest, sum := o.add(some(1000, 21))
	reached := false
	inner := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer inner.Close()
	p := b.start(t, Upstream{OCI: []string{o.URL}, Go: o.URL})
	host := strings.TrimPrefix(inner.URL, "http://")
	for path, status := range map[string]int{
		blobs + digest + "?ns=" + host:                       http.StatusNotFound,
		blobs + digest + "?ns=169.254.169.254":               http.StatusNotFound,
		blobs + digest + "?ns=" + url.QueryEscape(inner.URL): http.StatusNotFound,
		blobs + digest + "?ns=":                              http.StatusNotFound,
		"/v2/../../etc/passwd":                               http.StatusBadRequest,
		"/v2/some/%2e%2e/%2e%2e/blobs/" + digest:             http.StatusBadRequest,
		"/v2/some/..%2f..%2fimage/manifests/v1":              http.StatusBadRequest,
		"/v2//blobs/" + digest:                               http.StatusBadRequest,
		"/v2/some/image/manifests/%00":                       http.StatusBadRequest,
		"/v2/some/image/manifests/v1%0d%0aX:%20y":            http.StatusBadRequest,
		"/go/..%5c..%5cx/@v/list":                            http.StatusBadRequest,
		"/nix/nix-cache-info":                                http.StatusNotFound,
		"/other":                                             http.StatusNotFound,
	} {
		if got := get(t, p.url+path); got.status != status {
			t.Errorf("%s: status %d, want %d", path, got.status, status)
		}
	}
	if err := (Upstream{Go: "https://me:secret@proxy.example"}).Check(); !errors.Is(err, errURL) {
		t.Errorf("a URL with a password, whose content all would get: %v", err)
	}
	if got := do(t, http.MethodPost, p.url+blobs+digest); got.status != http.StatusMethodNotAllowed {
		t.Errorf("POST: status %d", got.status)
	}
	o.set(func() {
		o.before = func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, inner.URL+"/secret", http.StatusTemporaryRedirect)
			return true
		}
	})
	if got := get(t, p.url+blobs+digest); got.status != http.StatusBadGateway {
		t.Errorf("a redirect to a private address: status %d", got.status)
	}
	if reached || p.has(sum) {
		t.Error("what is not configured was reached")
	}
}

// TestNothingIsSmuggled has a client hide a second request in the body of a first, by two lengths that disagree. The origin
// gets neither the body nor headers about it.
func TestNothingIsSmuggled(t *testing.T) {
	o, b := newRegistry(t), newBoard()
	content := some(1000, 26)
	digest, _ := o.add(content)
	var asked []string
	o.before = func(_ http.ResponseWriter, r *http.Request) bool {
		body, err := io.ReadAll(r.Body)
		o.set(func() {
			asked = append(asked, fmt.Sprint(r.Host, r.URL.Path, r.ContentLength, r.TransferEncoding, len(body), err, r.Header.Get("X-Other"), r.Header.Get("Connection")))
		})
		return false
	}
	p := b.start(t, Upstream{OCI: []string{o.URL}})
	const hidden = "GET /v2/secret/image/blobs/x HTTP/1.1\r\nHost: evil.example\r\n\r\n"
	for _, head := range []string{"Content-Length: 6\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 5", "Content-Length: 5\r\nContent-Length: 6", "Transfer-Encoding: chunked, identity"} {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(p.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(5 * time.Second))
		_, _ = fmt.Fprintf(c, "GET %s%s HTTP/1.1\r\nHost: evil.example\r\nX-Other: 1\r\nConnection: close\r\n%s\r\n\r\n0\r\n\r\n%s", blobs, digest, head, hidden)
		_, _ = io.Copy(io.Discard, c)
		_ = c.Close()
	}
	want := fmt.Sprint(strings.TrimPrefix(o.URL, "http://"), blobs+digest, 0, []string(nil), 0, nil, "", "")
	if o.set(func() {}); len(asked) == 0 || slices.ContainsFunc(asked, func(s string) bool { return s != want }) {
		t.Errorf("the origin got %q, want %q", asked, want)
	}
}

func TestPublicOnly(t *testing.T) {
	for addr, ok := range map[string]bool{
		"127.0.0.1:80": false, "10.1.2.3:80": false, "192.168.0.1:443": false, "169.254.169.254:80": false, "100.64.0.1:80": false, "0.0.0.0:80": false,
		"[::1]:80": false, "[fe80::1]:80": false, "[fd00::1]:80": false, "[::ffff:10.0.0.1]:80": false, "[64:ff9b::a00:1]:80": false, "224.0.0.1:80": false,
		"93.184.216.34:443": true, "[2606:2800:220:1::1]:443": true, "name:80": false,
	} {
		if err := public.Safe("tcp", addr, nil); (err == nil) != ok {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

func TestCredentialsStayWithTheirHost(t *testing.T) {
	via, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "https://registry.example/v2/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	for to, keeps := range map[string]bool{"https://registry.example/y": true, "https://cdn.registry.example/y": false, "https://other.example/y": false} {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, to, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer x")
		if err := redirected(req, []*http.Request{via}); err != nil || (req.Header.Get("Authorization") != "") != keeps {
			t.Errorf("%s: %v, %q", to, err, req.Header.Get("Authorization"))
		}
	}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://registry.example/y", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := redirected(req, []*http.Request{via}); !errors.Is(err, errRedirect) {
		t.Errorf("from https to http: %v", err)
	}
}

// TestPrivateContent has a registry that gives one repository to those with a password, and another to everybody who
// asks for a token. Of the first, nothing is kept or told.
func TestPrivateContent(t *testing.T) {
	o, b := newRegistry(t), newBoard()
	content := some(50_000, 22)
	digest, sum := o.add(content)
	public := some(50_000, 23)
	publicDigest, publicSum := o.add(public)
	o.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/token" {
			_ = json.NewEncoder(w).Encode(map[string]string{"token": "anybody:" + r.FormValue("scope")})
			return true
		}
		auth := r.Header.Get("Authorization")
		if auth == "Bearer me" || auth == "Bearer anybody:open" && strings.Contains(r.URL.Path, "/open/") {
			return false
		}
		scope, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v2/"), "/")
		w.Header().Set("Www-Authenticate", `Bearer realm="`+o.URL+`/token",service="x",scope="`+scope+`"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	up := Upstream{OCI: []string{o.URL}}
	p, other := b.start(t, up), b.start(t, up)
	get(t, p.url+"/v2/secret/image/blobs/"+digest, "Authorization", "Bearer me").is(t, content)
	if _, there := p.cache.size(sum); there || p.has(sum) {
		t.Error("private content was kept, or is advertised")
	}
	for _, q := range []peerOf{p, other} {
		got := get(t, q.url+"/v2/secret/image/blobs/"+digest)
		if got.status != http.StatusUnauthorized || got.header.Get("Www-Authenticate") == "" {
			t.Errorf("without credentials: status %d, %v", got.status, got.header)
		}
	}
	if got := get(t, p.url+"/v2/open/image/manifests/gone", "Authorization", "Bearer me"); got.status != http.StatusNotFound {
		t.Errorf("what is not there: status %d", got.status)
	}
	get(t, p.url+"/v2/open/image/blobs/"+publicDigest, "Authorization", "Bearer me").is(t, public)
	if !p.has(publicSum) {
		t.Error("public content is not advertised")
	}
	o.Close()
	get(t, other.url+"/v2/open/image/blobs/"+publicDigest).is(t, public)
}

// TestCredentialsNeverGoToPeers looks at all that a peer is asked.
func TestCredentialsNeverGoToPeers(t *testing.T) {
	o, b := newRegistry(t), newBoard()
	content := some(1000, 24)
	digest, sum := o.add(content)
	var asked []http.Header
	b.liar(t, sum, func(w http.ResponseWriter, r *http.Request) {
		o.set(func() { asked = append(asked, r.Header.Clone()) })
		w.WriteHeader(http.StatusNotFound)
	})
	p := b.start(t, Upstream{OCI: []string{o.URL}})
	get(t, p.url+blobs+digest, "Authorization", "Bearer me", "Cookie", "a=b", "User-Agent", "tool/1").is(t, content)
	var seen []http.Header
	o.set(func() { seen = slices.Clone(asked) })
	if len(seen) == 0 {
		t.Error("no peer was asked")
	}
	for _, h := range seen {
		if h.Get("Authorization") != "" || h.Get("Cookie") != "" || h.Get("User-Agent") != "" {
			t.Errorf("a peer got %v", h)
		}
	}
}
