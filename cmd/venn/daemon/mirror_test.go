package daemon

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/venn-p2p/venn/cmd/venn/repo"
)

// TestMirror: one daemon answers clients of all kinds at one address, each from its origin, under no foreign name. Only
// clients of the archive may take it for a proxy.
func TestMirror(t *testing.T) {
	t.Parallel()
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) }))
	defer origin.Close()
	r := newRepo(t)
	configure(t, r, func(c *repo.Config) {
		c.Mirror.Listen = "127.0.0.1:0"
		c.Mirror.Upstream = repo.Upstream{Go: origin.URL + "/a", Nix: origin.URL + "/b", HF: origin.URL + "/c", Apt: origin.URL + "/d", OCI: []string{origin.URL}}
	})
	s, _, stop := start(t, r)
	defer func() { noErr(t, stop()) }()
	proxy := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(must(url.Parse(s.Mirror)))}}
	ask := func(by *http.Client, url, host string) (int, string) {
		req := must(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))
		req.Host = host
		resp := must(by.Do(req))
		defer func() { _ = resp.Body.Close() }()
		return resp.StatusCode, string(must(io.ReadAll(resp.Body)))
	}
	for path, want := range map[string]string{
		"/go/example.com/m/@v/list": "/a/example.com/m/@v/list", "/nix/nix-cache-info": "/b/nix-cache-info", "/hf/api/models/m": "/c/api/models/m",
		"/apt/dists/stable/Release": "/d/dists/stable/Release", "/v2/some/image/manifests/v1": "/v2/some/image/manifests/v1",
	} {
		if status, got := ask(http.DefaultClient, s.Mirror+path, ""); status != http.StatusOK || got != want {
			t.Errorf("%s: status %d, %q", path, status, got)
		}
		if status, got := ask(http.DefaultClient, s.Mirror+path, "evil.example"); status != http.StatusForbidden {
			t.Errorf("%s under a foreign name: status %d, %q", path, status, got)
		}
	}
	for asked, want := range map[string]int{
		origin.URL + "/d/dists/stable/InRelease": http.StatusOK, origin.URL + "/a/list": http.StatusNotFound, "http://evil.example/d/dists": http.StatusForbidden,
	} {
		if status, got := ask(&proxy, asked, ""); status != want {
			t.Errorf("%s by the mirror as a proxy: status %d, %q", asked, status, got)
		}
	}
}
