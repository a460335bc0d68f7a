package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/distribution/reference"
	"github.com/opencontainers/go-digest"
)

// oci is the adapter to registries (OCI distribution). Manifests and blobs by digest come from peers, tags are the
// origin's word. The registry is that of ?ns=, as containerd writes it, or the first part of the name, or the first one
// configured.
type oci struct {
	m  *Mirror
	by map[string]*url.URL // registries by host
}

// hub is the name by which clients know the registry that answers at hubHost.
const (
	hub     = "docker.io"
	hubHost = "registry-1.docker.io"
)

func newOCI(m *Mirror) *oci {
	o := &oci{m, make(map[string]*url.URL)}
	for _, u := range m.origins.oci {
		if u.Host == hub {
			u.Host = hubHost
		}
		o.by[u.Host] = u
		if u.Host == hubHost {
			o.by[hub] = u
		}
	}
	return o
}

var errRegistry = errors.New("mirror: not one of the registries that are configured")

// registry returns the registry that a request is for, and the rest of its path.
func (o *oci) registry(r *http.Request, path string) (*url.URL, string, error) {
	if names, ok := r.URL.Query()["ns"]; ok {
		u := o.by[names[0]]
		if u == nil {
			return nil, "", fmt.Errorf("%w: %.100q", errRegistry, names[0])
		}
		return u, path, nil
	}
	if host, rest, ok := strings.Cut(path, "/"); ok && o.by[host] != nil {
		return o.by[host], rest, nil
	}
	return o.m.origins.oci[0], path, nil
}

func (o *oci) serve(w http.ResponseWriter, r *http.Request, escaped string) {
	w.Header().Set("Docker-Distribution-Api-Version", "registry/2.0")
	at, rest, err := o.registry(r, escaped)
	if err != nil {
		ociError(w, http.StatusNotFound, "NAME_UNKNOWN", err)
		return
	}
	if rest == "" {
		o.ping(w, r, at)
		return
	}
	u, err := below(at, "v2/"+rest)
	if err != nil {
		ociError(w, http.StatusBadRequest, "NAME_INVALID", err)
		return
	}
	origin := requestTo(u, r, "Accept")
	name, kind, ref := split(rest)
	if _, err := reference.WithName(name); kind == "" || err != nil {
		o.m.through(w, r, at.Host+"/"+rest, withQuery(origin, r))
		return
	}
	o.content(w, r, thing{at.Host + "/" + name, kind, ref, origin})
}

// thing is a manifest or blob of a repository.
type thing struct {
	repository, kind, ref string
	origin                func(context.Context, string) (*http.Request, error)
}

func (t thing) String() string { return t.repository + "/" + t.kind + "/" + t.ref }

// split takes a path apart: the repository, manifests or blobs, and the tag or digest. kind is empty if it is neither.
func split(path string) (name, kind, ref string) {
	for _, kind := range []string{"manifests", "blobs"} {
		if i := strings.LastIndex(path, "/"+kind+"/"); i > 0 {
			name, ref := path[:i], path[i+len(kind)+2:]
			if !strings.Contains(ref, "/") {
				return name, kind, strings.ReplaceAll(strings.ReplaceAll(ref, "%3A", ":"), "%3a", ":")
			}
		}
	}
	return "", "", ""
}

// content answers with a manifest or a blob.
func (o *oci) content(w http.ResponseWriter, r *http.Request, t thing) {
	d, err := digest.Parse(t.ref)
	byDigest := err == nil
	switch {
	case byDigest && d.Algorithm() != digest.SHA256, t.kind == "blobs" && !byDigest:
		o.m.through(w, r, t.String(), t.origin)
		return
	case !o.m.everybody(r, "oci/"+t.repository, t.origin):
		o.m.through(w, r, t.String(), t.origin)
		return
	}
	if !byDigest {
		o.tag(w, r, t)
		return
	}
	sum, err := parseHex(Plain, d.Encoded())
	if err != nil {
		ociError(w, http.StatusBadRequest, "DIGEST_INVALID", err)
		return
	}
	want := Wanted{Sum: sum, Name: t.String(), Origin: t.origin}
	rec := record{Header: map[string]string{"Docker-Content-Digest": d.String(), "Etag": `"` + d.String() + `"`}}
	if t.kind == "manifests" {
		o.manifest(w, r, rec, want)
		return
	}
	o.m.serve(w, r, rec, want)
}

// tag answers with the manifest that the origin says a tag is.
func (o *oci) tag(w http.ResponseWriter, r *http.Request, t thing) {
	accept := slices.Sorted(slices.Values(r.Header.Values("Accept")))
	rec, stale, err := o.m.resolve(r.Context(), named{name: "oci/" + t.String() + "?" + strings.Join(accept, ","), origin: t.origin})
	if err != nil {
		o.m.fail(w, r, t.String(), err)
		return
	}
	d := "sha256:" + strings.TrimPrefix(rec.Sum, kinds[Plain]+"-")
	rec.Header["Docker-Content-Digest"], rec.Header["Etag"] = d, `"`+d+`"`
	o.m.serveRecord(w, r, rec, stale)
}

// maxManifest is the largest manifest that registries take.
const maxManifest = 4 << 20

// manifest answers with a manifest by its digest. Its type stands in itself: peers do not tell it.
func (o *oci) manifest(w http.ResponseWriter, r *http.Request, rec record, want Wanted) {
	if file, size, ok := o.m.cache.open(want.Sum); ok {
		b, err := io.ReadAll(io.NewSectionReader(file, 0, min(size, maxManifest)))
		_ = file.Close()
		if err == nil {
			rec.Header["Content-Type"] = mediaType(b)
		}
		o.m.serve(w, r, rec, want)
		return
	}
	f := o.m.join(want)
	defer f.leave()
	if err := f.wait(r.Context()); errors.Is(err, errDisk) {
		o.m.through(w, r, want.Name, want.Origin)
		return
	} else if err != nil {
		o.m.fail(w, r, want.Name, err)
		return
	}
	content := f.reader(r.Context(), f.size)
	b, err := io.ReadAll(io.LimitReader(content, maxManifest))
	if err != nil {
		o.m.fail(w, r, want.Name, err)
		return
	}
	rec.Header["Content-Type"] = mediaType(b)
	o.m.deliver(w, r, rec, content)
}

// mediaType returns the type of a manifest.
func mediaType(b []byte) string {
	var m struct {
		MediaType string
		Schema    int `json:"schemaVersion"`
		Manifests json.RawMessage
	}
	err := json.Unmarshal(b, &m)
	switch {
	case err != nil || strings.ContainsAny(m.MediaType, "\r\n"):
		return "application/octet-stream"
	case m.MediaType != "":
		return m.MediaType
	case m.Schema == 1:
		return "application/vnd.docker.distribution.manifest.v1+prettyjws"
	case m.Manifests != nil:
		return "application/vnd.oci.image.index.v1+json"
	}
	return "application/vnd.oci.image.manifest.v1+json"
}

// ping answers as the registry does, so that clients see its challenge. While it does not answer, the mirror does.
func (o *oci) ping(w http.ResponseWriter, r *http.Request, at *url.URL) {
	u := *at
	u.Path += "/v2/"
	req, err := requestTo(&u, r)(r.Context(), http.MethodGet)
	if err == nil {
		var resp *http.Response
		if resp, err = o.m.do(req); err == nil {
			_ = resp.Body.Close()
		}
	}
	if err != nil && !down(err) {
		o.m.fail(w, r, at.Host, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, "{}\n")
}

// withQuery passes the client's parameters on, but ns.
func withQuery(origin func(context.Context, string) (*http.Request, error), r *http.Request) func(context.Context, string) (*http.Request, error) {
	return func(ctx context.Context, method string) (*http.Request, error) {
		req, err := origin(ctx, method)
		if err == nil {
			q := r.URL.Query()
			q.Del("ns")
			req.URL.RawQuery = q.Encode()
		}
		return req, err
	}
}

func ociError(w http.ResponseWriter, status int, code string, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"errors": []map[string]string{{"code": code, "message": err.Error()}}})
}

// anyToken asks for the token that a registry gives to everybody, as its challenge says.
func (m *Mirror) anyToken(ctx context.Context, e *originError) (token string, ok bool) {
	c := challenge(e.header.Get("Www-Authenticate"))
	realm, err := url.Parse(c["realm"])
	if e.status != http.StatusUnauthorized || err != nil || realm.Scheme != "https" && realm.Scheme != "http" {
		return "", false
	}
	q := realm.Query()
	for _, name := range []string{"service", "scope"} {
		if c[name] != "" {
			q.Set(name, c[name])
		}
	}
	realm.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, realm.String(), nil)
	if err != nil {
		return "", false
	}
	resp, err := m.do(req)
	if err != nil {
		return "", false
	}
	defer func() { _ = resp.Body.Close() }()
	var t struct {
		Token  string
		Access string `json:"access_token"`
	}
	if json.NewDecoder(io.LimitReader(resp.Body, maxErrorBody)).Decode(&t) != nil {
		return "", false
	}
	if t.Token == "" {
		t.Token = t.Access
	}
	return t.Token, t.Token != ""
}

// challenge reads the parameters of a Bearer challenge.
func challenge(header string) map[string]string {
	out := make(map[string]string)
	rest, ok := strings.CutPrefix(header, "Bearer ")
	for ok && rest != "" {
		name, after, found := strings.Cut(strings.TrimLeft(rest, " ,"), `="`)
		value, next, closed := strings.Cut(after, `"`)
		if !found || !closed {
			break
		}
		out[strings.ToLower(name)], rest = value, next
	}
	return out
}
