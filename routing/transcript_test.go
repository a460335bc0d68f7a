package routing_test

import (
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/venn-p2p/venn/routing/routingtest"
)

// TestTranscripts replays testdata/transcripts; -rewrite writes down what happens now. Read the difference.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/transcripts", func(t *testing.T, path string) {
		var s routingtest.Script
		datadriven.RunTest(t, path, func(_ *testing.T, d *datadriven.TestData) string { return s.Run(d) })
	})
}
