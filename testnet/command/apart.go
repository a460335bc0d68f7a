package command

import (
	"fmt"
	"io"
	"math"

	"github.com/venn-p2p/venn/testnet/page"
	"github.com/venn-p2p/venn/testnet/results"
	"github.com/venn-p2p/venn/testnet/scenario"
)

// WriteApart writes how the simulator and real hosts differ, for each strategy that was run on both.
func WriteApart(w io.Writer, runs []*scenario.Run) error {
	for _, simulated := range runs {
		for _, real := range runs {
			if simulated.Engine != scenario.Simulated || real.Engine != scenario.Real || simulated.Strategy != real.Strategy {
				continue
			}
			fmt.Fprintf(w, "%s, simulator and real hosts:\n", simulated.Strategy)
			a := results.Engines(simulated, real)
			rows := [][]string{
				{"", "simulator", "real hosts", "apart"},
				{"recall", fmt.Sprintf("%.4f", a.Recall[0]), fmt.Sprintf("%.4f", a.Recall[1]), fmt.Sprintf("%.4f", math.Abs(a.Recall[0]-a.Recall[1]))},
			}
			for _, r := range a.Ratios {
				rows = append(rows, []string{r.Name, fmt.Sprintf("%.2f", r.Simulated), fmt.Sprintf("%.2f", r.Real), fmt.Sprintf("%+.1f %%", 100*r.Apart())})
			}
			if err := page.Table(w, 0, rows...); err != nil {
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
