package mirror

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// newHF returns the adapter to a Hugging Face hub. The hub is asked, with the client's token, for the hash of a file of
// a revision. Large files come from peers, by the SHA-256 that the hub tells. Files open to everybody can come from
// peers while the hub is down, too. Other files are passed through, so that the hub decides each time.
func newHF(m *Mirror, _ []*url.URL) adapter {
	hub := *m.web
	hub.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return func(q *request) error {
		q.known = func() (rec record, ok bool) {
			if strings.Contains(q.path, "/resolve/") {
				rec = q.largeFile(&hub)
			}
			rec.Name = ""
			return rec, rec.Sum != ""
		}
		return nil
	}
}

// largeFile asks the hub for the hash of the large file at the request's path. The record has no sum if the file is not
// a large one. While the hub is down, its last answer is used.
func (q *request) largeFile(hub *http.Client) (rec record) {
	name, req := "hf-file/"+q.name, q.origin.Clone(q.r.Context())
	req.Method = http.MethodHead
	resp, err := hub.Do(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	if err != nil || down(&originError{status: resp.StatusCode}) {
		rec, _ = q.recall(name)
		return rec
	}
	sum, err := plainSum(strings.Trim(resp.Header.Get("X-Linked-Etag"), `"`))
	if err != nil || resp.StatusCode >= http.StatusBadRequest {
		return rec
	}
	rec = record{Name: name, Header: only(resp.Header, linked), Sum: sum, Asked: time.Now()}
	rec.Header["Etag"] = rec.Header["X-Linked-Etag"] // other headers are those of the redirect
	q.remember(rec)
	return rec
}
