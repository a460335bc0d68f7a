package command

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/testnet/sim"
)

// Trace returns the command that reads traces.
func Trace() *cli.Command {
	return &cli.Command{
		Name:  "trace",
		Usage: "print the trace of a simulated run, a JSON object a line",
		Description: "Traces are what `run … --trace DIR` writes: everything that every peer did, in order. Times are in\n" +
			"milliseconds; a message has the time at which it arrives.",
		ArgsUsage: "FILE",
		Action: func(_ context.Context, c *cli.Command) error {
			f, err := os.Open(c.Args().First())
			if err != nil {
				return err
			}
			defer f.Close()
			if err := WriteTrace(c.Root().Writer, f); err != nil {
				return fmt.Errorf("%s: %w", c.Args().First(), err)
			}
			return nil
		},
	}
}

// WriteTrace writes a trace as JSON, one object a line. An error of reading matches [sim.ErrTrace]; the records
// before it are written.
func WriteTrace(w io.Writer, trace io.Reader) error {
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(out)
	for r, err := range sim.Records(trace) {
		if err == nil {
			err = lines.Encode(struct {
				At    float64 `json:"at_ms"`
				Peer  int     `json:"peer"`
				What  string  `json:"does"`
				Other int     `json:"other"`
				Bytes int     `json:"bytes,omitempty"`
				Query int     `json:"query,omitempty"`
			}{float64(r.At.Microseconds()) / 1000, int(r.Peer), r.What(), int(r.Other), int(r.Bytes), int(r.Query)})
		}
		if err != nil {
			_ = out.Flush()
			return err
		}
	}
	return out.Flush()
}
