package httpapi

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/summary"
)

// noEpochs are those of a store that fails.
type noEpochs struct{}

func (noEpochs) NextEpoch() (summary.Epoch, error) {
	return summary.Epoch{}, errors.New("disk is gone")
}

// TestNotReady: a node whose summary cannot be made is not ready, and says why.
func TestNotReady(t *testing.T) {
	n := newNode(t, node.WithEpochs(noEpochs{}))
	add(t, n, someCID)
	at := serve(t, Public(Config{Node: n}))
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		status, _, answer := ask(t, "GET", at+"/health/ready", "")
		if status == 503 && strings.Contains(answer, "disk is gone") {
			return
		}
		if status == 200 || time.Now().After(end) {
			t.Fatalf("%d %s", status, answer)
		}
	}
}
