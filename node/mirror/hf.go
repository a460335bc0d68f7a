package mirror

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// pathsInfo matches the paths of questions to a hub that clients ask by POST. They change nothing there.
var pathsInfo = regexp.MustCompile(`^/hf/api/[a-z]+/([^/]+/)?[^/]+/paths-info(/[^/]+)?$`)

// newHF returns the adapter to a Hugging Face hub. The hub is asked, with the client's token, for the hash of a file of
// a revision. Large files come from peers, by the SHA-256 that the hub tells. Files open to everybody can come from
// peers while the hub is down, too. Other files are passed through, so that the hub decides each time.
func newHF(*Mirror, []*url.URL) adapter {
	return func(q *request) error {
		if q.r.Method == http.MethodPost {
			q.fresh = passedOn
		}
		q.known = func() (record, bool) {
			if !strings.Contains(q.path, "/resolve/") {
				return record{}, false
			}
			head := q.origin.Clone(q.r.Context())
			head.Method = http.MethodHead
			rec, err := q.resolve(q.r.Context(), named{name: "hf-file/" + q.name, origin: head, told: largeFile})
			rec.Name = ""
			return rec, err == nil
		}
		return nil
	}
}

// largeFile returns the hash of a large file, by the head of the hub's answer, and the headers for clients. For another
// file the answer counts as one without content.
func largeFile(answer *http.Response) (Sum, http.Header, error) {
	head := answer.Header
	sum, err := plainSum(strings.Trim(head.Get("X-Linked-Etag"), `"`))
	if err != nil {
		return sum, nil, &originError{status: http.StatusNotFound}
	}
	head = only(head, linked)
	head["Etag"] = head["X-Linked-Etag"] // other headers are those of the redirect
	return sum, head, nil
}
