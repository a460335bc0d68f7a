package overlay_test

import (
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/defence"
	"github.com/venn-p2p/venn/overlay/overlaytest"
	"github.com/venn-p2p/venn/summary"
)

// TestRequestsOfStrangers: a peer that never says hello, and so has its requests wait, leaves room for those of others.
func TestRequestsOfStrangers(t *testing.T) {
	answered := func(off defence.Off) bool {
		s, err := overlaytest.NewScene(0, 0, overlay.Config{Undefended: off})
		if err != nil {
			t.Fatal(err)
		}
		own, err := overlaytest.NewOrigin("self", overlaytest.Fingerprints(100, 0, 1), summary.Header{})
		if err != nil {
			t.Fatal(err)
		}
		s.Overlay.Step(0, overlay.Published{Envelope: own.Envelope, Record: own.Record, Stream: own.Stream})
		id := uint64(0)
		request := func(from overlay.PeerID) []overlay.Effect {
			id++
			return s.Overlay.Step(time.Second, overlay.PartsRequested{From: from, Request: id, Group: own.Group(), First: 0, End: 1})
		}
		for range 1000 {
			request("stranger")
		}
		for _, e := range request(overlaytest.Honest) {
			if a, ok := e.(overlay.AnswerParts); ok && a.Request == id {
				return !a.Refused
			}
		}
		return false
	}
	if !answered(0) {
		t.Error("a link's request is refused, for a stranger's wait")
	}
	if answered(defence.Requests) {
		t.Error("the stranger does no harm without the defence")
	}
}
