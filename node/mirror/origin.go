package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"code.dny.dev/ssrf"
)

// origins is the parsed Upstream, by the beginning of clients' paths. Only v2 may have several URLs.
type origins map[string][]*url.URL

// fronts are the adapters, by the beginning of clients' paths.
var fronts = map[string]func(*Mirror, []*url.URL) adapter{"apt": newApt, "go": newGo, "hf": newHF, "nix": newNix, "v2": newOCI}

var errURL = errors.New("no URL with http or https and a host, and without a password")

// parse returns the origins, or everything that is wrong with them. Errors name keys of a daemon's configuration.
func (u Upstream) parse() (origins, error) {
	all := make(origins)
	var errs []error
	for key, texts := range map[string][]string{"apt": {u.Apt}, "go": {u.Go}, "hf": {u.HF}, "nix": {u.Nix}, "oci": u.OCI} {
		path := strings.Replace(key, "oci", "v2", 1)
		for _, text := range texts {
			if path == "v2" && !strings.Contains(text, "://") {
				text = "https://" + text
			}
			if text != "" {
				at, err := parseURL(key, text)
				all[path], errs = append(all[path], at), append(errs, err)
			}
		}
	}
	return all, errors.Join(errs...)
}

// Check returns everything that is wrong with the origins.
func (u Upstream) Check() error {
	_, err := u.parse()
	return err
}

func parseURL(key, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("mirror.upstream.%s: %w: %q", key, errURL, text)
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	u.RawPath = ""
	return u, nil
}

var errRedirect = errors.New("mirror: the origin sends elsewhere too often, or from https to http")

const (
	maxRedirects = 8
	dialTime     = 10 * time.Second
)

// newOrigin returns the client for origins. It dials the addresses of configured origins, and public addresses that
// they redirect to. Credentials go only to the origin that the client's request was for.
func (m *Mirror) newOrigin() *http.Client {
	configured := make(map[string]bool)
	for _, all := range m.origins {
		for _, u := range all {
			port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
			configured[net.JoinHostPort(u.Hostname(), port)] = true
		}
	}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				d := &net.Dialer{Timeout: dialTime}
				if !configured[addr] {
					d.Control = public.Safe
				}
				return d.DialContext(ctx, network, addr)
			},
			DisableCompression: true, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: dialTime,
			MaxResponseHeaderBytes: 64 << 10, ResponseHeaderTimeout: m.times.stuck,
		},
		CheckRedirect: redirected,
	}
}

// redirected checks an origin's redirect. It refuses more than maxRedirects, and any from https to http. It drops the
// credentials if the first request had another host or scheme.
func redirected(req *http.Request, via []*http.Request) error {
	before := via[len(via)-1].URL
	if len(via) > maxRedirects || before.Scheme == "https" && req.URL.Scheme != "https" {
		return errRedirect
	}
	if req.URL.Host != via[0].URL.Host || req.URL.Scheme != via[0].URL.Scheme {
		req.Header.Del("Authorization")
	}
	return nil
}

// public refuses addresses that are not reached over the public network.
var public = ssrf.New(ssrf.WithAnyPort(), ssrf.WithAnyNetwork())

// originError is an answer of the origin that is not the content.
type originError struct {
	status int
	header http.Header
	body   []byte
}

func (e *originError) Error() string {
	return fmt.Sprintf("mirror: the origin answers with status %d", e.status)
}

// Is matches errSize if the origin lacks the range asked for: peers must have stated too large a size.
func (e *originError) Is(target error) bool {
	return target == error(errSize) && e.status == http.StatusRequestedRangeNotSatisfiable
}

// down reports whether the origin did not answer, or with a status that may pass: 429, or 500 and above.
func down(err error) bool {
	var e *originError
	return !errors.As(err, &e) || e.status >= 500 || e.status == http.StatusTooManyRequests
}

// lively is the body of an origin's answer. It ends if nothing comes for a while.
type lively struct {
	io.ReadCloser
	after time.Duration
}

func (l lively) Read(p []byte) (int, error) {
	defer time.AfterFunc(l.after, func() { _ = l.Close() }).Stop()
	return l.ReadCloser.Read(p)
}

// do sends a request to the origin, by a client's Do. The answer may take any time in all, but its head and each further
// byte must come within times.stuck. An answer without content is an originError.
func (m *Mirror) do(send func(*http.Request) (*http.Response, error), req *http.Request) (*http.Response, error) {
	resp, err := send(req)
	if err != nil {
		return nil, fmt.Errorf("mirror: the origin does not answer: %w", err)
	}
	resp.Body = lively{resp.Body, m.times.stuck}
	if s := resp.StatusCode; s == http.StatusOK || s == http.StatusPartialContent || s/100 == 3 { // 304, or a redirect not to follow
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // more is not passed on
	return nil, &originError{resp.StatusCode, resp.Header, body}
}

// requestTo returns a GET request for a client's path below an origin, with the headers of the client's request that
// are always passed on. escaped is the path as the client wrote it. The caller gives the request a context by Clone.
func requestTo(base *url.URL, escaped, query string, client http.Header) (*http.Request, error) {
	plain, err := url.PathUnescape(escaped)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errPath, err)
	}
	bad := func(r rune) bool { return r < ' ' || r == '\\' || r == 0x7f }
	if to := strings.TrimSuffix(plain, "/"); to == "" || path.Clean("/"+to) != "/"+to || strings.ContainsFunc(to, bad) {
		return nil, fmt.Errorf("%w: %.200q", errPath, plain)
	}
	u := *base
	u.Path, u.RawPath, u.RawQuery = base.Path+"/"+plain, base.EscapedPath()+"/"+escaped, query
	return &http.Request{Method: http.MethodGet, URL: &u, Header: only(client, always)}, nil
}
