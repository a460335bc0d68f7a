package summary

import "github.com/venn-p2p/venn/summary/estimate"

// Interval is an estimate with its bounds.
type Interval = estimate.Interval
