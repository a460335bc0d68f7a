package command

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/venn-p2p/venn/testnet/results"
	"github.com/venn-p2p/venn/testnet/scenario"
)

// WriteApart says how far the simulator and real hosts are apart, of runs of one plan.
func WriteApart(w io.Writer, runs []*scenario.Run) error {
	for _, simulated := range runs {
		for _, real := range runs {
			if simulated.Engine != scenario.Simulated || real.Engine != scenario.Real || simulated.Strategy != real.Strategy {
				continue
			}
			fmt.Fprintf(w, "%s, simulator and real hosts:\n", simulated.Strategy)
			t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
			fmt.Fprintf(t, "\tsimulator\treal hosts\tapart\t\n")
			a := results.Engines(simulated, real)
			fmt.Fprintf(t, "recall\t%.4f\t%.4f\t%.4f\t\n", a.Recall[0], a.Recall[1], math.Abs(a.Recall[0]-a.Recall[1]))
			for _, r := range a.Ratios {
				fmt.Fprintf(t, "%s\t%.2f\t%.2f\t%+.1f %%\t\n", r.Name, r.Simulated, r.Real, 100*r.Apart())
			}
			if err := t.Flush(); err != nil {
				return err
			}
			for _, r := range []*scenario.Run{simulated, real} {
				fmt.Fprintf(w, "upkeep of a peer by kind, %s:\n", r.Engine)
				for _, k := range r.Kinds {
					fmt.Fprintf(w, "  %-40s %9.2f kB %9.1f messages\n", k.Name, float64(k.Bytes)/float64(r.Peers)/1000, float64(k.Messages)/float64(r.Peers))
				}
			}
		}
	}
	return nil
}
