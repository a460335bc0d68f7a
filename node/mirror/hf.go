package mirror

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// hubHeaders are the headers of the hub's answer that clients need.
var hubHeaders = []string{"X-Repo-Commit", "X-Linked-Etag", "X-Linked-Size"}

// newHF returns the adapter to a Hugging Face hub. The hub is asked, with the client's token, for the hash of a file of
// a revision. Large files come from peers, by the SHA-256 that the hub tells. Files open to everybody may come to
// others so while the hub is down; other files are passed through, each time with its consent.
func newHF(m *Mirror, _ []*url.URL) adapter {
	hub := *m.origin
	hub.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return adapter{headers: hubHeaders, known: func(q *request) (rec record, ok bool) {
		if !strings.Contains(q.path, "/resolve/") {
			return rec, false
		}
		rec, stale := q.largeFile(&hub)
		if rec.Sum == (Sum{}) {
			return rec, false
		}
		q.warn(rec, stale)
		rec.Name = ""
		return rec, true
	}}
}

// largeFile asks the hub whether a path is a large file, and which; the record has no sum if it is none. While the hub
// is down, its last word is used.
func (q *request) largeFile(hub *http.Client) (rec record, stale bool) {
	name := "hf-file/" + q.name
	req, err := q.origin(q.r.Context(), http.MethodHead)
	if err != nil {
		return rec, false
	}
	resp, err := hub.Do(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	if err != nil || down(&originError{status: resp.StatusCode}) {
		rec, _ = q.recall(name)
		return rec, true
	}
	sum, err := parseHex(Plain, strings.Trim(resp.Header.Get("X-Linked-Etag"), `"`))
	if err != nil || resp.StatusCode >= http.StatusBadRequest {
		return rec, false
	}
	rec = record{Name: name, Header: kept(resp.Header, hubHeaders), Sum: sum, Asked: time.Now()}
	rec.Header["Etag"] = rec.Header["X-Linked-Etag"]
	q.remember(rec)
	return rec, false
}
