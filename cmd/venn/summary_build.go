package main

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/venn-p2p/venn/node/signed"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/node/bounded"
	"github.com/venn-p2p/venn/summary"
)

func buildCommand() *cli.Command {
	return &cli.Command{
		Name:        "build",
		Usage:       "make the summary of the keys in a file or on stdin",
		ArgsUsage:   "[KEYS]",
		Description: helpText("summary-build"),
		Flags: append(seedFlags(),
			&cli.StringFlag{Name: "levels", Usage: "final `LEVELS` of the blocks, as L0,L1,…, or auto", Value: "auto", Validator: parses(parseLevels)},
			bytesFlag("budget", "choose the shape of the lowest false-positive rate for a file of at most `BYTES`, such as 50kB"),
			&cli.FloatFlag{Name: "rate", Usage: "choose the shape of the fewest bytes for a false-positive `RATE`", HideDefault: true, Validator: goodRate},
			&cli.StringFlag{Name: "identity", Usage: "sign with the private key in `FILE` (default: a published development key)", HideDefault: true},
			&cli.StringFlag{Name: "after", Usage: "the next epoch after the summary in `OLD`, in its shape while that fits"},
			&cli.StringFlag{Name: "epoch", Usage: "number of the summary, `GENERATION.SEQUENCE`; whoever publishes several gives each a higher one", Value: "0.0", Validator: parses(parseEpoch)},
			outFlag(),
		),
		Action: runBuild,
	}
}

func runBuild(_ context.Context, c *cli.Command) error {
	if c.IsSet("budget") && c.IsSet("rate") {
		return usageError(errors.New("summary build wants --budget or --rate, not both"))
	}
	levels := c.String("levels")
	if levels != "auto" && c.IsSet("rate") {
		return usageError(errors.New("summary build wants --levels or --rate, not both"))
	}
	if c.IsSet("after") && (levels != "auto" || c.IsSet("rate") || c.IsSet("epoch")) {
		return usageError(errors.New("summary build --after takes levels and epoch from OLD: not with --levels, --rate or --epoch"))
	}
	seed, err := parseSeed(c)
	if err != nil {
		return usageError(err)
	}
	key, err := loadIdentity(c.String("identity"))
	if err != nil {
		return err
	}
	fps, err := readFingerprints(c, c.Args().First(), seed.Hasher())
	if err != nil {
		return err
	}
	b, err := newBuilder(key, seed, c.String("epoch"))
	if err != nil {
		return err
	}
	fixed, err := parseLevels(levels)
	if err != nil {
		return usageError(err)
	}
	shape := shapeOf(len(fps), fixed)
	if old := c.String("after"); old != "" {
		if err := b.follow(c, old, &shape); err != nil {
			return err
		}
	}
	var f *openedSummary
	switch {
	case c.IsSet("rate"):
		f, err = b.forRate(fps, c.Float("rate"))
	case c.IsSet("budget") && fixed == nil && !c.IsSet("after"):
		f, err = b.forBudget(fps, bytesOf(c, "budget"))
	case c.IsSet("budget"):
		f, err = b.within(fps, shape, bytesOf(c, "budget"))
	default:
		f, err = b.build(fps, shape)
	}
	if err != nil {
		return err
	}
	return writeSummary(c, f)
}

// readFingerprints returns the fingerprints of the keys in a file, or on stdin, sorted and distinct.
func readFingerprints(c *cli.Command, name string, h summary.Hasher) ([]summary.Fingerprint, error) {
	var fps []summary.Fingerprint
	if err := eachKeyIn(c, name, func(key []byte) error { fps = append(fps, h.Fingerprint(key)); return nil }); err != nil {
		return nil, err
	}
	slices.Sort(fps)
	return slices.Compact(fps), nil
}

// builder makes and signs summaries.
type builder struct {
	header summary.Header
	sign   func(payload []byte) (envelope []byte, err error)
}

// summaryLifetime is the time that others may use a summary after its first receipt.
const summaryLifetime = time.Hour

func newBuilder(key crypto.PrivKey, seed summary.Seed, epoch string) (*builder, error) {
	id, err := peer.IDFromPublicKey(key.GetPublic())
	if err != nil {
		return nil, err
	}
	e, err := parseEpoch(epoch)
	if err != nil {
		return nil, err
	}
	h := summary.Header{Seed: seed.Tag(), Origin: string(id), Epoch: e, Lifetime: summaryLifetime}
	return &builder{h, signed.HeaderSigner(key)}, nil
}

// build makes the whole summary of distinct fingerprints in a shape.
func (b *builder) build(fps []summary.Fingerprint, s summary.Shape) (*openedSummary, error) {
	h := b.header
	h.Shape = s
	stream, err := summary.Build(fps, h)
	if err != nil {
		return nil, err
	}
	envelope, err := b.envelope(stream.Header())
	if err != nil {
		return nil, err
	}
	return opened(envelope, stream), nil
}

// envelope signs a header.
func (b *builder) envelope(h summary.Header) ([]byte, error) {
	payload, err := h.AppendBinary(nil)
	if err != nil {
		return nil, err
	}
	return b.sign(payload)
}

// forRate returns a summary of few bytes whose false-positive rate, measured with these keys, is at most rate. If the
// shape for that rate misses it even with all parts, forRate tries shapes for lower rates.
func (b *builder) forRate(fps []summary.Fingerprint, rate float64) (*openedSummary, error) {
	for target := rate; ; target *= 0.8 {
		shape, parts, err := summary.ShapeForRate(len(fps), target)
		if err != nil {
			return nil, err
		}
		f, err := b.build(fps, shape)
		if err != nil {
			return nil, err
		}
		for ; parts <= f.prefix.Parts(); parts++ {
			if cut := f.cut(parts); cut.prefix.FalsePositiveRate() <= rate {
				return cut, nil
			}
		}
	}
}

// forBudget returns the summary of least false-positive rate in a file of at most that size in bytes.
func (b *builder) forBudget(fps []summary.Fingerprint, bytes int) (*openedSummary, error) {
	shape, _, err := b.shapeFor(len(fps), bytes)
	if err != nil {
		return nil, err
	}
	return b.within(fps, shape, bytes)
}

// within builds the summary in a shape and cuts it to fit in a file of this size in bytes.
func (b *builder) within(fps []summary.Fingerprint, s summary.Shape, bytes int) (*openedSummary, error) {
	f, err := b.build(fps, s)
	if err != nil {
		return nil, err
	}
	parts, err := f.partsWithin(bytes)
	if err != nil {
		return nil, err
	}
	return f.cut(parts), nil
}

// shapeFor returns the best shape for a file of at most that size in bytes, and the number of parts that fit. The size
// includes the header and the framing of the parts.
func (b *builder) shapeFor(n, bytes int) (s summary.Shape, parts int, err error) {
	head, err := b.headBytes(n)
	if err != nil {
		return s, 0, err
	}
	s, parts, err = summary.ShapeForBytes(n, bytes-head)
	if err != nil {
		return s, 0, fmt.Errorf("%d bytes are too few for %d keys: the header takes %d, and parts need some more: %w", bytes, n, head, err)
	}
	if framed, fewer, err := summary.ShapeForBytes(n, bytes-head-3*parts-len(s.Levels)); err == nil { // up to 3 bytes for the size of each part
		return framed, fewer, nil
	}
	return s, parts, nil
}

// headBytes returns the size of a file with a header for n keys and no part.
func (b *builder) headBytes(n int) (int, error) {
	h := b.header
	h.N, h.Shape = n, summary.DefaultShape(n)
	envelope, err := b.envelope(h)
	if err != nil {
		return 0, err
	}
	return len(summary.File{Envelope: envelope}.AppendBinary(nil)), nil
}

// follow sets b's epoch to the next one after that of an old summary. The old summary must have the same signer and
// seed. follow sets shape to the old summary's shape if that fits.
func (b *builder) follow(c *cli.Command, name string, shape *summary.Shape) error {
	old, err := openSummary(c, name)
	if err != nil {
		return err
	}
	h := old.prefix.Header()
	if err := sameOrigin(name, h, "the new summary", b.header); err != nil {
		return err
	}
	b.header.Epoch = h.Epoch
	if b.header.Epoch.Sequence++; b.header.Epoch.Sequence == 0 {
		b.header.Epoch.Generation++
	}
	if h.Shape.Fits(shape.Keys) {
		*shape = h.Shape
	}
	return nil
}

// shapeOf returns a shape for n keys: the default one, or blocks to the given levels. It drops the sample if the first
// level is above the sample's.
func shapeOf(n int, levels []uint8) summary.Shape {
	s := summary.DefaultShape(n)
	if levels == nil {
		return s
	}
	s.Levels = levels
	if _, err := summary.NewPlan(n, s); err != nil {
		s.SampleBytes, s.SampleLevel = 0, 0
	}
	return s
}

// mostLevels is the largest number of levels in --levels: one for each block.
const mostLevels = 64

// parseLevels reads L0,L1,…; for auto it returns nil.
func parseLevels(text string) ([]uint8, error) {
	if text == "auto" {
		return nil, nil
	}
	var levels []uint8
	for l := range strings.SplitSeq(text, ",") {
		level, err := strconv.ParseUint(strings.TrimSpace(l), 10, 8)
		if err != nil || level < 1 || level > summary.FingerprintBits {
			return nil, fmt.Errorf("level %q, want 1 to %d", l, summary.FingerprintBits)
		}
		levels = append(levels, uint8(level))
	}
	if len(levels) > mostLevels {
		return nil, fmt.Errorf("%d levels, want at most %d", len(levels), mostLevels)
	}
	return levels, nil
}

func goodRate(rate float64) error {
	if !(rate > 0 && rate < 1) {
		return errors.New("want above 0 and below 1")
	}
	return nil
}

func parseEpoch(text string) (summary.Epoch, error) {
	generation, sequence, ok := strings.Cut(text, ".")
	g, err1 := strconv.ParseUint(generation, 10, 32)
	s, err2 := strconv.ParseUint(sequence, 10, 32)
	if !ok || err1 != nil || err2 != nil {
		return summary.Epoch{}, fmt.Errorf("epoch %q, want two numbers below 2^32 with a dot between", text)
	}
	return summary.Epoch{Generation: uint32(g), Sequence: uint32(s)}, nil
}

// parseSeed returns the seed that the flags name: a number in the network. More than 8 hexadecimal digits stand for a
// network of their own within the named one.
func parseSeed(c *cli.Command) (summary.Seed, error) {
	text, network := strings.ToLower(c.String("seed")), c.String("network")
	if network == "" || len(network) > 64 {
		return summary.Seed{}, fmt.Errorf("--network: the name has %d bytes, want 1 to 64", len(network))
	}
	digits, isHex := strings.CutPrefix(text, "0x")
	if isHex && len(digits) > 8 && len(digits) <= 64 && strings.Trim(digits, "0123456789abcdef") == "" {
		return summary.Seed{Network: network + "/" + digits}, nil
	}
	base := 10
	if isHex {
		base = 16
	}
	number, err := strconv.ParseUint(digits, base, 32)
	if err != nil {
		return summary.Seed{}, fmt.Errorf("--seed %q: want a whole number below 2^32, or 0x and 1 to 64 hexadecimal digits", c.String("seed"))
	}
	return summary.Seed{Network: network, Number: uint32(number)}, nil
}

// loadIdentity reads a libp2p private key; without a name it is the development key.
func loadIdentity(name string) (crypto.PrivKey, error) {
	if name == "" {
		return developmentKey()
	}
	b, err := bounded.ReadFile(name)
	if err != nil {
		return nil, err
	}
	raw, _ := base64.StdEncoding.DecodeString(strings.TrimSpace(string(b)))
	for _, form := range [][]byte{b, raw} {
		if key, err := crypto.UnmarshalPrivateKey(form); err == nil {
			return key, nil
		}
	}
	return nil, fmt.Errorf("%s: no libp2p private key, in protobuf or base64", name)
}

// developmentKey returns the Ed25519 key whose seed is the SHA-256 of "venn development key". Everybody knows it.
func developmentKey() (crypto.PrivKey, error) {
	seed := sha256.Sum256([]byte("venn development key"))
	return crypto.UnmarshalEd25519PrivateKey(ed25519.NewKeyFromSeed(seed[:]))
}

// seedName formats the seed of a header for people.
func seedName(t summary.SeedTag) string {
	return fmt.Sprintf("%d of network %q", t.Number, networkName(t))
}

// networkName returns the name of a seed's network if that is venn, else the hexadecimal digits of its tag.
func networkName(t summary.SeedTag) string {
	if t == (summary.Seed{Network: "venn", Number: t.Number}).Tag() {
		return "venn"
	}
	return hex.EncodeToString(t.Network[:])
}
