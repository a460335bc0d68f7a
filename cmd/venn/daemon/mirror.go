package daemon

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/venn-p2p/venn/node/httpapi"
	"github.com/venn-p2p/venn/node/mirror"
)

// openMirror opens the mirror on the node, if the configuration has an address for it.
func (d *daemon) openMirror(ctx context.Context) (err error) {
	if d.clients == nil {
		return nil
	}
	if d.claims, err = openClaims(ctx, d.repo, d.node); err != nil {
		return err
	}
	d.onClose(d.claims.log.Close)
	c := d.cfg.Mirror
	d.mirror, err = mirror.New(mirror.Config{
		Host: d.node.Host(), Network: d.cfg.Network.Name, Router: d.claims, Dir: d.repo.Mirror(), Size: c.Size, Place: cmp.Or(d.opts.Place, c.Place),
		Upstream: mirror.Upstream(c.Upstream), Log: d.log,
	})
	if err != nil {
		return err
	}
	d.onClose(d.mirror.Close)
	return d.registry.Register(d.mirror.Metrics())
}

// mirrorFront returns the handler for the mirror's clients. One of the Debian archive may take the mirror for an HTTP
// proxy: it asks for a URL of the archive, which is the path below /apt then.
func (d *daemon) mirrorFront() http.Handler {
	front := httpapi.Guard(d.mirror.Handler(), d.cfg.HTTP.Names...)
	archive, err := url.Parse(d.cfg.Mirror.Upstream.Apt)
	if err != nil || archive.Host == "" {
		return front
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, below := strings.CutPrefix(r.URL.Path, strings.TrimSuffix(archive.Path, "/")+"/")
		if below && r.URL.Host == archive.Host {
			r = r.Clone(r.Context())
			r.URL.Path, r.URL.RawPath, r.Host = "/apt/"+path, "", "localhost"
		}
		front.ServeHTTP(w, r)
	})
}

// addKeys adds keys for a client of the API. The mirror no longer claims them.
func (d *daemon) addKeys(ctx context.Context, keys ...[]byte) (added int, err error) {
	if d.claims != nil {
		if err := d.claims.leave(keys); err != nil {
			return 0, err
		}
	}
	return d.node.Add(ctx, keys...)
}

// mirrorStatus returns the mirror's status for the API; nil without a mirror.
func (d *daemon) mirrorStatus() *httpapi.Mirror {
	if d.mirror == nil {
		return nil
	}
	s := d.mirror.Status()
	s.Listen = d.clients.Addr().String()
	return s
}
