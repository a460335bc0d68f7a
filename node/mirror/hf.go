package mirror

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// hf is the adapter to a Hugging Face hub. The hub is asked, with the client's token, what a file of a revision is.
// Large files come from peers, by the SHA-256 that the hub tells. What it gives to everybody may come to others so while
// the hub is down; what it gives to some is passed through, each time with its consent.
type hf struct {
	m    *Mirror
	base *url.URL
	ask  *http.Client // does not follow where the hub sends it
}

func newHF(m *Mirror, base *url.URL) adapter {
	ask := *m.origin
	ask.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return (&hf{m, base, &ask}).serve
}

// hubHeaders are what clients need of the hub's answer.
var hubHeaders = []string{"X-Repo-Commit", "X-Linked-Etag", "X-Linked-Size", "Etag"}

func (h *hf) serve(w http.ResponseWriter, r *http.Request, escaped string) {
	u, err := below(h.base, escaped)
	if err != nil {
		h.m.fail(w, r, "hf/"+escaped, err)
		return
	}
	name := "hf/" + escaped
	origin := requestTo(u, r)
	if !strings.Contains(escaped, "/resolve/") {
		u.RawQuery = r.URL.RawQuery
		origin = requestTo(u, r)
		name += "?" + u.RawQuery
	}
	if !h.m.everybody(r, name, origin) {
		h.m.through(w, r, name, origin)
		return
	}
	rec, stale, ok := h.large(r, name, Wanted{Name: name, Origin: origin})
	if !ok {
		h.m.serveNamed(w, r, named{name: name, origin: origin, headers: hubHeaders})
		return
	}
	if stale {
		w.Header().Set("Warning", `110 - "the origin does not answer: this is its last word"`)
	}
	sum, err := ParseSum(rec.Sum)
	if err != nil {
		h.m.fail(w, r, name, err)
		return
	}
	h.m.serve(w, r, rec, Wanted{sum, name, origin})
}

// large asks the hub whether a path is a large file, and which. While the hub is down, its last word is used.
func (h *hf) large(r *http.Request, name string, want Wanted) (rec record, stale, ok bool) {
	if !strings.Contains(name, "/resolve/") {
		return rec, false, false
	}
	name = "hf-file/" + name
	req, err := want.Origin(r.Context(), http.MethodHead)
	if err != nil {
		return rec, false, false
	}
	resp, err := h.ask.Do(req)
	if err != nil || down(&originError{status: resp.StatusCode}) {
		if err == nil {
			_ = resp.Body.Close()
		}
		rec, ok = h.m.names.get(name)
		return rec, true, ok
	}
	_ = resp.Body.Close()
	sum, err := parseHex(Plain, strings.Trim(resp.Header.Get("X-Linked-Etag"), `"`))
	if err != nil || resp.StatusCode >= http.StatusBadRequest {
		return rec, false, false
	}
	rec = record{Name: name, Header: make(map[string]string), Sum: sum.String(), Asked: time.Now()}
	for _, name := range hubHeaders {
		if v := resp.Header.Get(name); v != "" {
			rec.Header[name] = v
		}
	}
	rec.Header["Etag"] = rec.Header["X-Linked-Etag"]
	if err := h.m.names.put(rec); err != nil && !errors.Is(err, errFull) {
		h.m.log.Warn("mirror: what a file is, is not kept", "err", err)
	}
	return rec, false, true
}
