package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/venn-p2p/venn/testnet/page"
	"github.com/venn-p2p/venn/testnet/papers"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/summary"
)

func inspectCommand() *cli.Command {
	return &cli.Command{Name: "inspect", Usage: "tell what a summary is, part by part", ArgsUsage: "FILE", Description: helpText("summary-inspect"), Action: runInspect}
}

// inspected is the report on a summary.
type inspected struct {
	N            int             `json:"n"`
	Shape        inspectedShape  `json:"shape"`
	Bytes        int             `json:"bytes"`
	BitsPerKey   maybe           `json:"bits_per_key"`
	Rate         float64         `json:"fp_rate"`
	EntropyRatio maybe           `json:"entropy_ratio"`
	Parts        []inspectedPart `json:"parts"`
	AllParts     int             `json:"all_parts"` // number of parts of the summary, before it was cut
	Epoch        string          `json:"epoch"`
	Seed         uint32          `json:"seed"`
	Network      string          `json:"network"` // network's name if it is venn, else the seed's tag in hexadecimal
	Signer       string          `json:"signer"`
	Signature    string          `json:"signature"`
}

type inspectedShape struct {
	Keys        int   `json:"keys"`
	SampleBytes int   `json:"sample_bytes"`
	SampleLevel int   `json:"sample_level"`
	Levels      []int `json:"levels"`
}

// inspectedPart has the offset of a part, and describes the file as if it were cut after the part.
type inspectedPart struct {
	Offset     int     `json:"offset"`
	Bytes      int     `json:"bytes"`
	BitsPerKey maybe   `json:"bits_per_key"`
	Rate       float64 `json:"fp_rate"`
}

func runInspect(_ context.Context, c *cli.Command) error {
	name := c.Args().First()
	b, err := readInput(c, name)
	if err != nil {
		return err
	}
	f, signature, err := parseSummary(b)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r, err := inspect(f, len(b))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	r.Signature = "valid"
	if signature != nil {
		r.Signature = signature.Error()
	}
	err = show(c, r, func(w io.Writer) error { return r.print(w, f) })
	if err == nil && signature != nil {
		err = fmt.Errorf("%s: %w", name, signature)
	}
	return err
}

// inspect measures a summary, of a file of the given size in bytes, as if the file were cut after each of its parts.
func inspect(f *openedSummary, bytes int) (*inspected, error) {
	h := f.prefix.Header()
	r := &inspected{
		N:     h.N,
		Shape: *newInspectedShape(h.Shape),
		Bytes: bytes, BitsPerKey: perKey(bytes, h.N), Rate: f.prefix.FalsePositiveRate(),
		EntropyRatio: maybe(8 * float64(f.prefix.EncodedBytes()) / papers.StreamEntropy(f.prefix)),
		Parts:        []inspectedPart{},
		AllParts:     f.prefix.Plan().Parts(),
		Epoch:        h.Epoch.String(), Seed: h.Seed.Number, Network: networkName(h.Seed), Signer: peer.ID(h.Origin).String(),
	}
	sizes, offsets := f.sizes()
	p, err := summary.NewPrefix(h)
	if err != nil {
		return nil, err
	}
	for k := range f.prefix.Parts() { // extending by each part is quicker than cutting for each
		next, _ := f.prefix.Run(k, k+1)
		if p, err = p.Extend(next); err != nil {
			return nil, err
		}
		r.Parts = append(r.Parts, inspectedPart{offsets[k], sizes[k+1], perKey(sizes[k+1], h.N), p.FalsePositiveRate()})
	}
	return r, nil
}

func (r *inspected) print(w io.Writer, f *openedSummary) error {
	h := f.prefix.Header()
	if err := plain(w, [][2]string{
		{"keys", fmt.Sprint(r.N)},
		{"shape", r.Shape.String()},
		{"parts", fmt.Sprintf("%d of %d", len(r.Parts), r.AllParts)},
		{"bytes", fmt.Sprintf("%d, %s bits a key", r.Bytes, r.BitsPerKey)},
		{"rate", fmt.Sprintf("%.4g", r.Rate)},
		{"entropy ratio", r.EntropyRatio.digits(4)},
		{"epoch", r.Epoch},
		{"seed", seedName(h.Seed)},
		{"signer", r.Signer},
		{"signature", r.Signature},
	}); err != nil || len(r.Parts) == 0 {
		return err
	}
	fmt.Fprintln(w)
	rows := [][]string{{"part", "offset", "bytes", "bits a key", "rate"}}
	for k, p := range r.Parts {
		rows = append(rows, []string{strconv.Itoa(k + 1), strconv.Itoa(p.Offset), strconv.Itoa(p.Bytes), p.BitsPerKey.String(), fmt.Sprintf("%.4g", p.Rate)})
	}
	return page.Table(w, 0, rows...)
}

func (s inspectedShape) String() string {
	text := fmt.Sprintf("levels %s for %d keys", s.levels(), s.Keys)
	if s.SampleBytes > 0 {
		text += fmt.Sprintf(", sample of %d bytes at level %d", s.SampleBytes, s.SampleLevel)
	}
	return text
}

func (s inspectedShape) levels() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Levels), " ", ","), "[]")
}

func newInspectedShape(s summary.Shape) *inspectedShape {
	out := inspectedShape{Keys: s.Keys, SampleBytes: s.SampleBytes, SampleLevel: int(s.SampleLevel)}
	for _, l := range s.Levels {
		out.Levels = append(out.Levels, int(l))
	}
	return &out
}
