package httpapi

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestGuardKnowsItsHosts(t *testing.T) {
	h := Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), "venn.example.org", "Box.Lan", "venn", "")
	for host, want := range map[string]int{
		"127.0.0.1:8640":        http.StatusOK,
		"[::1]:8640":            http.StatusOK,
		"192.168.1.5":           http.StatusOK,
		"localhost:8640":        http.StatusOK,
		"LOCALHOST":             http.StatusOK,
		"a.localhost":           http.StatusOK,
		"venn.example.org:8640": http.StatusOK,
		"box.lan":               http.StatusOK,
		"BOX.LAN:80":            http.StatusOK,
		"venn:8101":             http.StatusOK,
		"router":                http.StatusForbidden, // a name that the local network resolves
		"evil.example.org:8640": http.StatusForbidden,
		"127.0.0.1.example.org": http.StatusForbidden,
		"localhost.evil.com":    http.StatusForbidden,
		"":                      http.StatusForbidden,
	} {
		r := httptest.NewRequest(http.MethodGet, "/routing/v1/providers/x", nil)
		r.Host = host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: %d, want %d", host, w.Code, want)
		}
	}
}

func TestGuardKeepsOtherSitesOut(t *testing.T) {
	h := Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, c := range []struct {
		method, path, site, mode, origin string
		want                             int
	}{
		{http.MethodGet, "/routing/v1/providers/x", "", "", "", http.StatusOK}, // a program
		{http.MethodGet, "/routing/v1/providers/x", "none", "navigate", "", http.StatusOK},
		{http.MethodGet, "/routing/v1/providers/x", "same-origin", "cors", "", http.StatusOK},
		{http.MethodGet, "/routing/v1/providers/x", "cross-site", "cors", "https://evil.example", http.StatusForbidden},
		{http.MethodGet, "/routing/v1/providers/x", "cross-site", "no-cors", "", http.StatusForbidden},
		{http.MethodGet, "/routing/v1/providers/x", "same-site", "cors", "", http.StatusForbidden},
		{http.MethodGet, "/routing/v1/providers/x", "cross-site", "navigate", "", http.StatusForbidden},
		{http.MethodGet, "/ui/", "cross-site", "navigate", "", http.StatusOK}, // a link to the page
		{http.MethodGet, "/", "cross-site", "navigate", "", http.StatusOK},
		{http.MethodGet, "/ui/events", "cross-site", "navigate", "", http.StatusForbidden},
		{http.MethodGet, "/ui/", "cross-site", "no-cors", "", http.StatusForbidden},
		{http.MethodPost, "/ui/", "cross-site", "navigate", "", http.StatusForbidden},
		{http.MethodPost, "/ui/ask", "", "", "https://evil.example", http.StatusForbidden},
		{http.MethodPost, "/ui/ask", "", "", "", http.StatusOK},
	} {
		r := httptest.NewRequest(c.method, c.path, nil)
		r.Host = "localhost"
		for name, value := range map[string]string{"Sec-Fetch-Site": c.site, "Sec-Fetch-Mode": c.mode, "Origin": c.origin} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%+v: %d", c, w.Code)
		}
	}
}
