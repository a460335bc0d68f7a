// Package limits says what a node lets others make it do. Every node has the zero value: only test kits can name the
// type.
package limits

import (
	"github.com/venn-p2p/venn/node/core"
	"github.com/venn-p2p/venn/node/defence"
)

// Limits bounds what others can make a node do. Zero values mean the stated defaults.
type Limits struct {
	Off  defence.Off
	Core func(*core.Config) // changes the core's configuration; nil: it stays
}
