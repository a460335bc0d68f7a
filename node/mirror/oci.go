package mirror

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// hub is the name by which clients know the registry that answers at hubHost.
const hub, hubHost = "docker.io", "registry-1.docker.io"

// oci is the adapter to registries (OCI distribution): their URLs, by the names that clients use. Manifests and blobs
// by digest come from peers, tags from the origin. The registry is named by ?ns=, as containerd writes it, or by the
// first part of the path; else it is the first one configured.
type oci map[string]*url.URL

func newOCI(_ *Mirror, bases []*url.URL) adapter {
	by := make(oci)
	for _, u := range bases {
		by[u.Host] = u
		if u.Host == hub || u.Host == hubHost {
			u.Host, by[hub], by[hubHost] = hubHost, u, u
		}
	}
	return by.describe
}

// describe finds the registry of a request, and tells content by digest from tags and other paths.
func (o oci) describe(q *request) error {
	q.w.Header().Set("Docker-Distribution-Api-Version", "registry/2.0")
	query := q.r.URL.Query()
	if host, rest, _ := strings.Cut(q.path, "/"); query.Has("ns") {
		q.base = o[query.Get("ns")]
	} else if o[host] != nil {
		q.base, q.path = o[host], rest
	}
	if q.base == nil {
		return fmt.Errorf("%w: %.100q", errRegistry, query.Get("ns"))
	}
	query.Del("ns")
	q.r.URL.RawQuery, q.name, q.path = query.Encode(), "oci/"+q.base.Host+"/"+q.path, "v2/"+q.path
	name, kind, ref := split(q.path)
	switch {
	case kind == "":
		q.fresh = passedOn
	case kind == "blobs" || strings.Contains(ref, ":"): // no tag has a colon
		q.fresh = unkept
	default: // a registry's answer about a tag depends on the types that the client accepts
		q.name = strings.Join(append([]string{q.name}, slices.Sorted(slices.Values(q.r.Header.Values("Accept")))...), " ")
	}
	if q.path == "v2/" { // clients ask for it first, to log in
		q.instead = "{}\n"
	}
	q.scope = "oci/" + q.base.Host + "/" + name
	q.known = func() (record, bool) { return byDigest(kind, ref) }
	return nil
}

// byDigest returns the record of a blob or a manifest. A manifest's type is read from its content: peers send no type.
func byDigest(kind, ref string) (rec record, ok bool) {
	digits, ok := strings.CutPrefix(ref, "sha256:")
	sum, err := plainSum(digits)
	if !ok || err != nil {
		return rec, false
	}
	rec.Sum, rec.Header = sum, http.Header{"Docker-Content-Digest": {ref}, "Etag": {`"` + ref + `"`}}
	if kind == "manifests" {
		rec.typeOf = mediaType
	}
	return rec, true
}

var ofRepository = regexp.MustCompile(`^v2/([a-z0-9._/-]+)/(manifests|blobs)/([^/]+)$`)

// split returns the repository of a path, its kind (manifests or blobs), and its tag or digest; "" for other paths.
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
		Manifests json.RawMessage
	}
	err := json.Unmarshal(b, &m)
	switch {
	case err != nil || strings.ContainsAny(m.MediaType, "\r\n"):
		return "application/octet-stream"
	case m.MediaType != "":
		return m.MediaType
	case m.Manifests != nil:
		return "application/vnd.oci.image.index.v1+json"
	}
	return "application/vnd.oci.image.manifest.v1+json"
}
