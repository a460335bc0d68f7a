package summary

import (
	"cmp"
	"fmt"
)

// Epoch orders the summaries of one origin. Each publication has a higher sequence number. An origin that has lost its
// record of earlier epochs begins a higher generation.
type Epoch struct{ Generation, Sequence uint32 }

// After reports whether e is later than o. O(1).
func (e Epoch) After(o Epoch) bool {
	return cmp.Or(cmp.Compare(e.Generation, o.Generation), cmp.Compare(e.Sequence, o.Sequence)) > 0
}

// String returns "generation.sequence".
func (e Epoch) String() string { return fmt.Sprintf("%d.%d", e.Generation, e.Sequence) }
