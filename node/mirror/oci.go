package mirror

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/distribution/reference"
	"github.com/opencontainers/go-digest"
)

// oci is the adapter to registries (OCI distribution). Manifests and blobs by digest come from peers, tags are the
// origin's word. The registry is named by ?ns=, as containerd writes it, or by the first part of the name; else it is
// the first one configured.
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
	for _, u := range m.origins["v2"] {
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
	return o.m.origins["v2"][0], path, nil
}

func (o *oci) serve(q *request) {
	q.w.Header().Set("Docker-Distribution-Api-Version", "registry/2.0")
	base, rest, err := o.registry(q.r, q.path)
	if err != nil {
		q.fail(err)
		return
	}
	query := q.r.URL.Query()
	query.Del("ns")
	q.r.URL.RawQuery = query.Encode()
	name, kind, ref := split(rest)
	if _, err := reference.WithName(name); err != nil {
		kind = ""
	}
	q.name = "oci/" + base.Host + "/" + rest
	if rest == "" {
		q.pingRegistry(base)
		return
	}
	a := adapter{query: kind == ""}
	if kind != "" {
		a.scope, a.learn = "oci/"+base.Host+"/"+name, digestOf
		a.known = func(*request) (record, bool) { return byDigest(kind, ref) }
		a.fresh = func(string) time.Duration {
			if _, err := digest.Parse(ref); kind != "manifests" || err == nil {
				return unkept
			}
			return 0
		}
	}
	a.answer(q, base, "v2/"+rest, "Accept")
}

// byDigest returns the hash of a blob or a manifest. The type of a manifest stands in itself: peers do not tell it.
func byDigest(kind, ref string) (rec record, ok bool) {
	d, err := digest.Parse(ref)
	if err != nil || d.Algorithm() != digest.SHA256 {
		return rec, false
	}
	rec.Sum = "sha256-" + d.Encoded()
	rec.Header = map[string]string{"Docker-Content-Digest": ref, "Etag": `"` + ref + `"`}
	if kind == "manifests" {
		rec.typeOf = mediaType
	}
	return rec, true
}

// digestOf notes the digest of the manifest that a tag stands for, by the registry's word.
func digestOf(rec record, _ *io.SectionReader) {
	rec.Header["Docker-Content-Digest"] = strings.Replace(rec.Sum, "-", ":", 1)
}

var ofRepository = regexp.MustCompile(`^(.+)/(manifests|blobs)/([^/]+)$`)

// split takes a path apart: the repository, manifests or blobs, and the tag or digest. kind is empty if it is neither.
func split(path string) (name, kind, ref string) {
	parts := ofRepository.FindStringSubmatch(path)
	if parts == nil {
		return "", "", ""
	}
	return parts[1], parts[2], strings.ReplaceAll(strings.ReplaceAll(parts[3], "%3A", ":"), "%3a", ":")
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
	q.origin = requestTo(base.JoinPath("v2/"), q.r)
	switch err := q.pass(record{}); {
	case err == nil:
	case down(err):
		q.w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(q.w, "{}\n")
	default:
		q.fail(err)
	}
}
