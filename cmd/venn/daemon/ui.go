package daemon

import (
	"context"
	"net/http"

	"github.com/venn-p2p/venn/cmd/venn/view"
)

// uiBytes is the size of the view's history in bytes: about a day, while somebody watches.
const uiBytes = 4 << 20

// withUI adds a page at /ui/, and a redirection of / to it, that shows what this peer knows. The page changes
// nothing. watch asks the node while somebody views, and returns when ctx ends.
func (d *daemon) withUI(ctx context.Context, h http.Handler) (all http.Handler, watch func() error) {
	feed := view.NewFeed(view.Header{Source: "daemon", Network: d.cfg.Network.Name, Program: d.opts.Version}, uiBytes)
	w := view.NewWatch(feed, true)
	w.Mirror = d.mirrorStatus
	w.Add(ctx, view.Peer{Name: "this peer"}, d.node)
	context.AfterFunc(ctx, feed.Close) // so that viewers do not delay the end
	mux := http.NewServeMux()
	mux.Handle("/", h)
	mux.Handle("GET /{$}", http.RedirectHandler("/ui/", http.StatusTemporaryRedirect))
	mux.Handle("/ui/", http.StripPrefix("/ui", view.Handler(view.Config{Source: feed, Ask: w.Ask})))
	return mux, func() error { w.Run(ctx); return nil }
}
