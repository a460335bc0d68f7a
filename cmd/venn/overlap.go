package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/venn-p2p/venn/node/httpapi"
	"github.com/venn-p2p/venn/summary/estimate"
)

// overlapReport estimates the overlap of two collections, of peers or in files. Where nothing is known, values are
// null, but common has its bounds.
type overlapReport struct {
	Keys        [2]float64 `json:"keys"`   // number of keys in the first collection and in the second
	Common      interval   `json:"common"` // number of keys that both have
	Union       maybe      `json:"union"`
	Jaccard     maybe      `json:"jaccard"`
	Containment maybe      `json:"containment"` // share of the first's keys that the second has
	Saturated   bool       `json:"saturated"`
	Method      string     `json:"method"`
}

type interval struct {
	Value      maybe   `json:"value"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`
}

// overlapOfPeers returns the report of the daemon's estimate for two peers.
func overlapOfPeers(o httpapi.Overlap) overlapReport {
	r := overlapReport{o.Keys, interval{maybe(o.Common.Value), o.Common.Low, o.Common.High, o.Common.Confidence}, 0, maybe(o.Jaccard), maybe(o.Containment), o.Saturated, o.Method}
	r.Union = maybe(o.Keys[0] + o.Keys[1] - o.Common.Value)
	return r.known()
}

// overlapOfSummaries reports an estimate from two files.
func overlapOfSummaries(o estimate.Overlap) overlapReport {
	i := o.Intersection
	r := overlapReport{[2]float64{o.N1, o.N2}, interval{maybe(i.Value), i.Low, i.High, i.Confidence}, maybe(o.Union.Value), maybe(o.Jaccard), maybe(o.Containment), i.Saturated, o.Method}
	return r.known()
}

// known returns r, without values if nothing is known.
func (r overlapReport) known() overlapReport {
	if r.Saturated {
		none := maybe(math.NaN())
		r.Common.Value, r.Union, r.Jaccard, r.Containment = none, none, none, none
		r.Method += ", saturated: only bounds"
	}
	return r
}

// print writes r as a table, with these names for the two collections.
func (r overlapReport) print(w io.Writer, first, second string) error {
	rows := [][2]string{
		{"keys of " + first, fmt.Sprintf("%.0f", r.Keys[0])},
		{"keys of " + second, fmt.Sprintf("%.0f", r.Keys[1])},
		{"in common", fmt.Sprintf("%s, %.0f to %.0f at %.4g %% confidence", r.Common.Value.digits(0), r.Common.Low, r.Common.High, 100*r.Common.Confidence)},
		{"in either", r.Union.digits(0)},
		{"jaccard", r.Jaccard.String()},
		{"share of " + first, r.Containment.String()},
	}
	label := "estimated from"
	for piece := range strings.SplitAfterSeq(r.Method, ", ") { // a line has 80 columns
		rows = append(rows, [2]string{label, strings.TrimSuffix(piece, " ")})
		label = ""
	}
	return plain(w, rows)
}
