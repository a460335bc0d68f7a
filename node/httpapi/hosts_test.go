package httpapi

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestCheckHost(t *testing.T) {
	h := CheckHost(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), "venn.example.org")
	for host, want := range map[string]int{
		"127.0.0.1:8640":        http.StatusOK,
		"[::1]:8640":            http.StatusOK,
		"192.168.1.5":           http.StatusOK,
		"localhost:8640":        http.StatusOK,
		"router":                http.StatusOK,
		"a.localhost":           http.StatusOK,
		"venn.example.org:8640": http.StatusOK,
		"evil.example.org:8640": http.StatusForbidden,
		"127.0.0.1.example.org": http.StatusForbidden,
		"localhost.evil.com":    http.StatusForbidden,
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
