package main

import (
	"errors"
	"fmt"

	"github.com/venn-p2p/venn/node/signed"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/summary"
)

func deltaCommand() *cli.Command {
	return &cli.Command{
		Name:      "delta",
		Usage:     "write what makes a new summary of an old one",
		ArgsUsage: "OLD NEW",
		Description: "The two must be of one signer and seed. As many parts as both have come out when the delta is applied. Where a\n" +
			"delta would be no smaller, the file is NEW itself; apply takes that as well.",
		Flags:  []cli.Flag{outFlag()},
		Action: onSummaries(2, runDelta),
	}
}

// runDelta writes the delta from the old summary to the next one, or the whole next one if that is no larger.
func runDelta(c *cli.Command, args []string, of []*openedSummary) error {
	old, next := of[0], of[1]
	if err := sameOrigin(args[0], old.prefix.Header(), args[1], next.prefix.Header()); err != nil {
		return err
	}
	parts, full := min(old.prefix.Parts(), next.prefix.Parts()), false
	changes, err := next.prefix.RunRelative(0, parts, old.prefix, old.prefix.Parts())
	if err != nil {
		return err
	}
	b := summary.File{Envelope: next.file.Envelope, Delta: changes.Bytes}.AppendBinary(nil)
	if plain := next.file.AppendBinary(nil); len(plain) <= len(b) {
		b, parts, full = plain, next.prefix.Parts(), true
	}
	out := c.String("out")
	if err := writeOut(c, out, b); err != nil {
		return err
	}
	kind := "delta"
	if full {
		kind = "full summary, no larger than a delta"
	}
	bytes, n := len(b), next.prefix.Header().N
	return reportOn(c, out, struct {
		N          int   `json:"n"`
		Parts      int   `json:"parts"`
		Bytes      int   `json:"bytes"`
		BitsPerKey maybe `json:"bits_per_key"`
		Full       bool  `json:"full"`
	}{n, parts, bytes, perKey(bytes, n), full},
		"%s: %s of %d parts, %d bytes, %s bits a key", out, kind, parts, bytes, perKey(bytes, n))
}

// sameOrigin returns an error if a summary cannot follow another: the signers or the seeds differ.
func sameOrigin(oldName string, old summary.Header, nextName string, next summary.Header) error {
	if old.Origin != next.Origin {
		return fmt.Errorf("%s is signed by %s, %s by %s: %w", oldName, peer.ID(old.Origin), nextName, peer.ID(next.Origin), errSigners)
	}
	if old.Seed != next.Seed {
		return fmt.Errorf("%s is made with seed %s, %s with %s: %w", oldName, seedName(old.Seed), nextName, seedName(next.Seed), summary.ErrSeed)
	}
	return nil
}

var errSigners = errors.New("different signers")

func applyCommand() *cli.Command {
	return &cli.Command{
		Name:      "apply",
		Usage:     "make the new summary from the old one and a delta",
		ArgsUsage: "OLD DELTA",
		Description: "The result is what the signer of OLD signed, part by part, or an error: a delta needs no trust.\n" +
			"It may be shorter than the new summary was, if OLD had fewer parts.",
		Flags:  []cli.Flag{outFlag()},
		Action: onSummaries(1, runApply),
	}
}

func runApply(c *cli.Command, args []string, of []*openedSummary) error {
	b, err := readInput(c, args[1])
	if err != nil {
		return err
	}
	next, err := applyDelta(args, of[0], b)
	if err != nil {
		return err
	}
	return writeSummary(c, next)
}

// applyDelta returns the new summary that the bytes of a delta, or of a full summary, make of an old one.
func applyDelta(names []string, old *openedSummary, b []byte) (*openedSummary, error) {
	fail := func(err error) (*openedSummary, error) { return nil, fmt.Errorf("%s: %w", names[1], err) }
	d, err := summary.ParseFile(b)
	if err != nil {
		return fail(err)
	}
	if d.Delta == nil {
		next, err := parseSigned(b)
		if err != nil {
			return fail(err)
		}
		return next, sameOrigin(names[0], old.prefix.Header(), names[1], next.prefix.Header())
	}
	h, err := signed.OpenHeader(d.Envelope)
	if err != nil {
		return fail(err)
	}
	if err := sameOrigin(names[0], old.prefix.Header(), names[1], h); err != nil {
		return nil, err
	}
	p, err := extended(old.prefix, h, d.Delta)
	if err != nil {
		return nil, fmt.Errorf("%s does not apply to %s: %w", names[1], names[0], err)
	}
	return opened(d.Envelope, p), nil
}

// extended applies a delta to an old summary, and returns the new summary, whose header is h.
func extended(old *summary.Prefix, h summary.Header, delta []byte) (*summary.Prefix, error) {
	r, err := summary.ParseRelative(delta)
	if err != nil {
		return nil, err
	}
	none, err := summary.NewPrefix(h)
	if err != nil {
		return nil, err
	}
	return none.ExtendRelative(old, r)
}
