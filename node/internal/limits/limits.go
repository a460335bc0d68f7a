// Package limits has the limits of what other peers can make a node do. Every node has the zero value: only test kits
// can name the type.
package limits

import (
	"cmp"

	"github.com/venn-p2p/venn/node/core"
)

// Limits bounds what others can make a node do. Zero values mean the stated defaults.
type Limits struct {
	Core     func(*core.Config) // changes the core's configuration; nil: it stays
	Work     float64            // factor of the work, and the streams, that others may cause; 0: 1
	Dials    int                // dials for one question, of a peer that cannot be dialled; 0: 1
	Addrs    int                // addresses of a record that are dialled, at most one of them by a relay; 0: 8
	Offences float64            // offences of a peer that are forgiven at a time; 0: 20
}

// Defaulted returns the limits with the defaults in place of zero values.
func (l Limits) Defaulted() Limits {
	l.Work, l.Offences = cmp.Or(l.Work, 1), cmp.Or(l.Offences, 20)
	l.Dials, l.Addrs = cmp.Or(l.Dials, 1), cmp.Or(l.Addrs, 8)
	return l
}
