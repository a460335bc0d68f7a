package node

import (
	"context"

	"github.com/venn-p2p/venn/overlay"
)

// Budgets returns what the node's line and links carry for summaries, and what they have carried. The errors: ErrClosed, that
// of ctx.
func (n *Node) Budgets(ctx context.Context) (b overlay.Budgets, err error) {
	err = n.view(ctx, func(l *loop) { b = l.core.Overlay.Budgets(l.n.now()) })
	return b, err
}
