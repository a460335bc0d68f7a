package routing_test

import (
	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/routing"
)

var _ routing.View = (*overlay.Overlay)(nil)
