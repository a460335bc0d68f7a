package overlay_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// TestRequestsOfSilentPeers: peers that never say hello, and so have their requests wait, leave room for those of others.
func TestRequestsOfSilentPeers(t *testing.T) {
	answered := func(silent int) bool {
		s, err := overlaylab.NewScene(0, 0, overlay.Config{})
		if err != nil {
			t.Fatal(err)
		}
		own := overlaylab.NewOrigin("self", overlaylab.Fingerprints(100, 0, 1), summary.Header{})
		s.Overlay.Step(0, event.Published{Envelope: own.Envelope, Record: own.Record, Stream: own.Stream})
		id := uint64(0)
		request := func(from wire.PeerID) []event.Effect {
			id++
			return s.Overlay.Step(time.Second, event.Asked{From: from, Request: id, Question: wire.PartsRequest{Group: own.Group(), First: 0, End: 1}})
		}
		for i := range silent {
			p := wire.PeerID(fmt.Sprint("silent", i))
			s.Overlay.Step(time.Second, event.LinkOpened{Peer: p})
			for range 200 {
				request(p)
			}
		}
		served, full := false, false
		for _, e := range request(overlaylab.Honest) {
			if a, ok := e.(event.Answer); ok {
				refused := a.Answer.(wire.Parts).Refused
				served, full = served || a.Request == id && !refused, full || a.Request != id && refused
			}
		}
		if !full {
			t.Errorf("the requests of %d silent peers leave a place free", silent)
		}
		return served
	}
	for _, silent := range []int{1, 8, 30} {
		if !answered(silent) {
			t.Errorf("a link's request is refused, for those of %d silent peers wait", silent)
		}
	}
}
