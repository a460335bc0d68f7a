package tails

import "time"

const (
	// ownShare is the part of a line's budget that its owner's tails may take, of paceBytes for each link.
	ownShare  = 1.0 / 3
	paceBytes = 130
	// allShare is the part of it that the tails of all origins may take, if all make them as often. It may be more than
	// there is: a line that does not bear all tails gets fewer, of more changes.
	allShare = 2.0
)

// Pause is how long an origin waits after a tail, whose line bears so many bytes a second for summaries. What it makes
// all others carry, it has to carry of them.
func Pause(line float64, links, origins int) time.Duration {
	times := max(float64(links)/ownShare, float64(origins)/allShare)
	return time.Duration(paceBytes * times / line * float64(time.Second))
}
