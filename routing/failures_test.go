package routing

import (
	"fmt"
	"testing"

	"github.com/venn-p2p/venn/overlay/wire"
)

// TestDoubtsMakeRoom: what others doubt does not push out what failed to answer us.
func TestDoubtsMakeRoom(t *testing.T) {
	var fs failures
	fs.note(0, "dead", true, true, lastPause)
	for i := range 2 * maxFailures {
		fs.doubt(1, wire.PeerID(fmt.Sprint(i)))
	}
	if f, ok := fs.of(1, "dead"); !ok || !f.sure || len(fs) > maxFailures {
		t.Errorf("%v, %v, of %d", f, ok, len(fs))
	}
}
