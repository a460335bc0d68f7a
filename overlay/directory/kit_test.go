package directory

import (
	"math/rand/v2"

	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/summary"
)

// alone is a directory that knows nobody, in a network where nobody signs.
func alone(rng *rand.Rand, cfg Config) *Directory {
	cfg.Self, cfg.Seed, cfg.Rand = "self", plain.Tag, rng
	cfg.OpenHeader = summary.ParseHeader
	cfg.OpenRecord = plain.OpenRecord
	return New(cfg)
}
