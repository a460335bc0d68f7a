package view

import (
	"io/fs"
	"mime"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"
)

// The types of the page's files are its own, whatever the system says. A browser that has a file gets none again.
func TestAssets(t *testing.T) {
	if err := mime.AddExtensionType(".js", "text/plain"); err != nil { // as some registries have it
		t.Fatal(err)
	}
	defer func() { _ = mime.AddExtensionType(".js", "text/javascript; charset=utf-8") }()
	h := Handler(Config{})
	get := func(name, encoding, tag string) *http.Response {
		r := httptest.NewRequest(http.MethodGet, "/"+name, nil)
		r.Header.Set("Accept-Encoding", encoding)
		if tag != "" {
			r.Header.Set("If-None-Match", tag)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result()
	}
	tags := map[string]bool{}
	for _, name := range slices.Concat(must(fs.Glob(web, "web/*.*")), must(fs.Glob(web, "web/vendor/*"))) {
		name = strings.TrimPrefix(name, "web/")
		for _, encoding := range []string{"", "gzip"} {
			first := get(name, encoding, "")
			tag := first.Header.Get("ETag")
			if got, want := first.Header.Get("Content-Type"), types[path.Ext(name)]; first.StatusCode != 200 || got != want || want == "" {
				t.Errorf("%s: %d, type %q, want %q", name, first.StatusCode, got, want)
			}
			if first.Header.Get("Content-Encoding") != encoding || tag == "" || encoding == "" && tags[tag] {
				t.Errorf("%s: encoding %q, tag %s, which must be its own", name, first.Header.Get("Content-Encoding"), tag)
			}
			tags[tag] = true
			if again := get(name, encoding, tag); again.StatusCode != http.StatusNotModified || again.ContentLength > 0 {
				t.Errorf("%s again: %d with %d bytes", name, again.StatusCode, again.ContentLength)
			}
		}
	}
	for _, name := range []string{"vendor", "none.js"} {
		if got := get(name, "", ""); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", name, got.StatusCode)
		}
	}
	if got := get("main.js", "", "").Header.Get("Content-Type"); got != "text/javascript; charset=utf-8" {
		t.Errorf("main.js is %s", got)
	}
}
