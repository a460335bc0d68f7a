package daemon

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/venn-p2p/venn/cmd/venn/repo"
)

// TestUI looks at a daemon's view: what it shows of itself, and that foreign pages and changes are refused.
func TestUI(t *testing.T) {
	r := newRepo(t)
	configure(t, r, func(c *repo.Config) { c.HTTP.Names, c.Mirror.Listen = []string{"Box.Lan", "venn"}, "127.0.0.1:0" })
	s, _, stop := start(t, r)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	ask := func(method, path, host string) *http.Response {
		req := must(http.NewRequestWithContext(ctx, method, s.HTTP+path, strings.NewReader(`{"peer":0,"add":1}`)))
		if host != "" {
			req.Host = host
		}
		resp := must(http.DefaultClient.Do(req))
		t.Cleanup(func() { _ = resp.Body.Close() })
		return resp
	}
	if got := ask(http.MethodGet, "/ui", "").StatusCode; got != http.StatusOK {
		t.Errorf("GET /ui: %d", got)
	}
	if got := ask(http.MethodGet, "/", ""); got.StatusCode != http.StatusOK || got.Request.URL.Path != "/ui/" {
		t.Errorf("GET /: %d at %s", got.StatusCode, got.Request.URL)
	}
	if got := ask(http.MethodPost, "/ui/change", "").StatusCode; got != http.StatusForbidden {
		t.Errorf("POST /ui/change: %d", got)
	}
	for host, want := range map[string]int{
		"127.0.0.1": http.StatusOK, "localhost": http.StatusOK, "a.localhost": http.StatusOK, "box.lan": http.StatusOK, "venn": http.StatusOK,
		"evil.example": http.StatusForbidden, "evil": http.StatusForbidden,
	} {
		for _, path := range []string{"/health/live", "/debug/metrics/prometheus", "/routing/v1/providers/bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy", "/ui/", "/ui/can"} {
			if got := ask(http.MethodGet, path, host).StatusCode; got != want {
				t.Errorf("GET %s under the name %s: %d, want %d", path, host, got, want)
			}
		}
	}
	var text strings.Builder
	for in := bufio.NewScanner(ask(http.MethodGet, "/ui/events", "").Body); in.Scan(); {
		text.WriteString(in.Text())
		if strings.Contains(text.String(), `"type":"mirror"`) {
			break
		}
	}
	for _, want := range []string{`"source":"daemon"`, `"name":"this peer"`, s.ID, `"type":"status"`, `"type":"mirror"`} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the view lacks %s", want)
		}
	}
	began := time.Now()
	if err := stop(); err != nil {
		t.Error(err)
	}
	t.Logf("ended after %v with a viewer", time.Since(began))
}
