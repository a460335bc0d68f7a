package testnet

import (
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
)

// muxer is yamux for many hosts in one process. A host that ends closes its connections, and on one machine that is
// seen at once. So idle connections, thousands of them, are not pinged. Their queues of new streams are short, for
// these are most of what an idle session takes.
func muxer() libp2p.Option {
	config := *yamux.DefaultTransport.Config()
	config.EnableKeepAlive = false
	config.MeasureRTTInterval = time.Hour
	config.AcceptBacklog = 64
	return libp2p.Muxer(yamux.ID, (*yamux.Transport)(&config))
}
