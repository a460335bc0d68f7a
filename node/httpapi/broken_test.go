package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// brokenAfter lists n keys and then fails.
func brokenAfter(n int) func(context.Context) iter.Seq2[[]byte, error] {
	return func(context.Context) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			for i := range n {
				if !yield(fmt.Append(nil, "key ", i), nil) {
					return
				}
			}
			yield(nil, errors.New("disk"))
		}
	}
}

// TestBroken: an error is the whole answer as long as nothing of another was written. After that it cuts the answer off:
// the client gets no text of the error as if it were a part of the answer, and sees that the answer is not whole.
func TestBroken(t *testing.T) {
	n := newNode(t)
	for name, c := range map[string]struct {
		path  string
		keys  int
		wrote string // by the backup, before it fails
		begun bool
	}{
		"list, at once":   {"keys", 0, "", false},
		"list, midway":    {"keys", 20_000, "", true},
		"backup, at once": {"backup", 0, "", false},
		"backup, midway":  {"backup", 0, "half", true},
	} {
		t.Run(name, func(t *testing.T) {
			at := serve(t, Control(Config{Node: n, Keys: brokenAfter(c.keys), Backup: func(_ context.Context, w io.Writer) error {
				if c.wrote != "" {
					_, _ = io.WriteString(w, c.wrote)
					_ = http.NewResponseController(w.(http.ResponseWriter)).Flush()
				}
				return errors.New("disk")
			}}))
			resp, err := http.Get(at + "/api/v1/" + c.path)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			b, err := io.ReadAll(resp.Body)
			if !c.begun {
				var e Error
				if err != nil || json.Unmarshal(b, &e) != nil || e.Error != "disk" || resp.StatusCode != http.StatusInternalServerError {
					t.Fatalf("status %d, %v, %s", resp.StatusCode, err, b)
				}
				return
			}
			if !errors.Is(err, io.ErrUnexpectedEOF) || resp.StatusCode != http.StatusOK || len(b) == 0 || strings.Contains(string(b), "disk") {
				t.Errorf("status %d, %v, and the answer ends with %q", resp.StatusCode, err, b[max(0, len(b)-40):])
			}
		})
	}
}

// TestClientsFillNoLog: a request that is refused, or whose client has gone, leaves no line in the log. A failure does.
func TestClientsFillNoLog(t *testing.T) {
	var log strings.Builder
	a := newAPI(Config{Log: slog.New(slog.NewTextHandler(&log, nil)), MaxRequests: 1}, "")
	request := func(ctx context.Context, h handler) (status int) {
		w := httptest.NewRecorder()
		a.limited(h).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx))
		return w.Code
	}
	fails := func(_ http.ResponseWriter, r *http.Request) error {
		return cmp.Or(r.Context().Err(), errors.New("disk"))
	}
	request(t.Context(), func(http.ResponseWriter, *http.Request) error {
		if status := request(t.Context(), fails); status != http.StatusServiceUnavailable {
			t.Errorf("a second request at once: %d", status)
		}
		return nil
	})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	request(gone, fails)
	if log.Len() > 0 {
		t.Errorf("clients have it logged: %s", &log)
	}
	if request(t.Context(), fails); strings.Count(log.String(), "disk") != 1 {
		t.Errorf("of a failure is logged: %q", &log)
	}
}

// TestBrokenLines: an error after the first line cuts off an answer in lines, too.
func TestBrokenLines(t *testing.T) {
	a := newAPI(Config{}, "")
	at := serve(t, a.limited(func(w http.ResponseWriter, _ *http.Request) error {
		_ = lines(w)(Key{"one"})
		return errors.New("disk")
	}))
	resp := must(http.Get(at))
	defer func() { _ = resp.Body.Close() }()
	if b, err := io.ReadAll(resp.Body); !errors.Is(err, io.ErrUnexpectedEOF) || string(b) != "{\"key\":\"one\"}\n" {
		t.Errorf("%v, %q", err, b)
	}
}
