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

func (o *oci) serve(q *request) {
	q.w.Header().Set("Docker-Distribution-Api-Version", "registry/2.0")
	base, rest, err := o.registry(q.r, q.path)
	if err != nil {
		ociError(q.w, http.StatusNotFound, "NAME_UNKNOWN", err)
		return
	}
	if rest == "" {
		q.pingRegistry(base)
		return
	}
	if q.at, err = below(base, "v2/"+rest); err != nil {
		ociError(q.w, http.StatusBadRequest, "NAME_INVALID", err)
		return
	}
	q.origin = requestTo(q.at, q.r, "Accept")
	q.name = base.Host + "/" + rest
	name, kind, ref := split(rest)
	if _, err := reference.WithName(name); kind == "" || err != nil {
		query := q.r.URL.Query()
		query.Del("ns")
		q.at.RawQuery = query.Encode()
		q.through()
		return
	}
	d, err := digest.Parse(ref)
	byDigest := err == nil
	switch {
	case byDigest && d.Algorithm() != digest.SHA256, kind == "blobs" && !byDigest, !q.everybody("oci/" + base.Host + "/" + name):
		q.through()
	case byDigest:
		q.byDigest(kind, d)
	default:
		q.tag()
	}
}

// byDigest answers with a blob or a manifest. The type of a manifest stands in itself: peers do not tell it.
func (q *request) byDigest(kind string, d digest.Digest) {
	sum, err := parseHex(Plain, d.Encoded())
	if err != nil {
		ociError(q.w, http.StatusBadRequest, "DIGEST_INVALID", err)
		return
	}
	rec := record{Header: map[string]string{"Docker-Content-Digest": d.String(), "Etag": `"` + d.String() + `"`}}
	if kind == "manifests" {
		rec.typeOf = mediaType
	}
	q.serve(rec, sum)
}

// tag answers with the manifest that the origin says a tag is.
func (q *request) tag() {
	accept := slices.Sorted(slices.Values(q.r.Header.Values("Accept")))
	rec, stale, err := q.resolve(q.r.Context(), named{name: "oci/" + q.name + "?" + strings.Join(accept, ","), origin: q.origin})
	if err != nil {
		q.fail(err)
		return
	}
	d := "sha256:" + strings.TrimPrefix(rec.Sum, kinds[Plain]+"-")
	rec.Header["Docker-Content-Digest"], rec.Header["Etag"] = d, `"`+d+`"`
	q.serveRecord(rec, stale)
}

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

// pingRegistry answers as the registry does, so that clients see its challenge. While it does not answer, the mirror does.
func (q *request) pingRegistry(base *url.URL) {
	req, err := requestTo(base.JoinPath("v2/"), q.r)(q.r.Context(), http.MethodGet)
	if err == nil {
		var resp *http.Response
		if resp, err = q.do(req); err == nil {
			_ = resp.Body.Close()
		}
	}
	if err != nil && !down(err) {
		q.fail(err)
		return
	}
	q.w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(q.w, "{}\n")
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
