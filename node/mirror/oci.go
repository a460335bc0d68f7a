package mirror

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/distribution/reference"
	"github.com/opencontainers/go-digest"
)

// hub is the name by which clients know the registry that answers at hubHost.
const (
	hub     = "docker.io"
	hubHost = "registry-1.docker.io"
)

// newOCI returns the adapter to registries (OCI distribution). Manifests and blobs by digest come from peers, tags are the
// origin's word. The registry is named by ?ns=, as containerd writes it, or by the first part of the name; else it is
// the first one configured.
func newOCI(_ *Mirror, bases []*url.URL) adapter {
	by := make(map[string]*url.URL)
	for _, u := range bases {
		if u.Host == hub {
			u.Host = hubHost
		}
		by[u.Host] = u
		if u.Host == hubHost {
			by[hub] = u
		}
	}
	return adapter{
		ping: "v2/", told: []string{"Accept"}, learn: digestOf,
		route: func(q *request) (*url.URL, string, error) {
			q.w.Header().Set("Docker-Distribution-Api-Version", "registry/2.0")
			base, path, query := bases[0], q.path, q.r.URL.Query()
			if host, rest, _ := strings.Cut(path, "/"); query.Has("ns") {
				base = by[query.Get("ns")]
			} else if by[host] != nil {
				base, path = by[host], rest
			}
			if base == nil {
				return nil, "", fmt.Errorf("%w: %.100q", errRegistry, query.Get("ns"))
			}
			query.Del("ns")
			q.r.URL.RawQuery, q.name = query.Encode(), "oci/"+base.Host+"/"+path
			return base, "v2/" + path, nil
		},
		scope: func(q *request) string {
			_, kind, _ := split(q.path)
			return q.name[:max(0, strings.LastIndex(q.name, "/"+kind+"/"))]
		},
		known: func(q *request) (record, bool) { return byDigest(split(q.path)) },
		fresh: func(path string) time.Duration {
			_, kind, ref := split(path)
			if _, err := digest.Parse(ref); kind == "" {
				return passedOn
			} else if kind == "blobs" || err == nil {
				return unkept
			}
			return 0
		},
	}
}

// byDigest returns the hash of a blob or a manifest. The type of a manifest stands in itself: peers do not tell it.
func byDigest(_, kind, ref string) (rec record, ok bool) {
	digits, ok := strings.CutPrefix(ref, "sha256:")
	sum, err := parseHex(Plain, digits)
	if !ok || err != nil {
		return rec, false
	}
	rec.Sum, rec.Header = sum, map[string]string{"Docker-Content-Digest": ref, "Etag": `"` + ref + `"`}
	if kind == "manifests" {
		rec.typeOf = mediaType
	}
	return rec, true
}

// digestOf notes the digest of the manifest that a tag stands for, by the registry's word.
func digestOf(rec record, _ *io.SectionReader) {
	rec.Header["Docker-Content-Digest"] = strings.Replace(rec.Sum.String(), "-", ":", 1)
}

var ofRepository = regexp.MustCompile(`^v2/(.+)/(manifests|blobs)/([^/]+)$`)

// split takes a path apart: the repository, manifests or blobs, and the tag or digest. kind is empty if it is neither.
func split(path string) (name, kind, ref string) {
	parts := ofRepository.FindStringSubmatch(path)
	if parts == nil {
		return "", "", ""
	}
	if _, err := reference.WithName(parts[1]); err != nil {
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

// ping answers as the origin does, so that clients see its challenge. While it does not answer, the mirror does.
func (q *request) ping(base *url.URL) {
	q.origin = requestTo(base.JoinPath(q.path), q.r)
	switch err := q.pass(record{}); {
	case err == nil:
	case down(err):
		q.w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(q.w, "{}\n")
	default:
		q.fail(err)
	}
}
