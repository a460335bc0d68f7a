package daemon

import (
	"context"
	"net/http"

	"github.com/venn-p2p/venn/cmd/venn/view"
)

// uiBytes is how much history the view keeps: a day or so of somebody looking.
const uiBytes = 4 << 20

// withUI adds a view of what this peer knows at /ui/, which changes nothing. The node is asked only while somebody looks.
func (d *daemon) withUI(ctx context.Context, h http.Handler) http.Handler {
	feed := view.NewFeed(view.Header{Source: "daemon", Network: d.cfg.Network.Name, Program: d.opts.Version}, uiBytes)
	watch := view.NewWatch(feed, true)
	watch.Add(ctx, view.Peer{Name: "this peer"}, d.node)
	context.AfterFunc(ctx, feed.Close) // so that viewers do not hold up the end
	go watch.Run(ctx)
	mux := http.NewServeMux()
	mux.Handle("/", h)
	mux.Handle("/ui/", http.StripPrefix("/ui", view.Handler(view.Config{Source: feed, Ask: watch.Ask})))
	return mux
}
