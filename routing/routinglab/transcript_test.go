package routinglab

import (
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestTranscripts replays testdata/transcripts; -rewrite writes down what happens now. Read the difference.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/transcripts", func(t *testing.T, path string) {
		var s Script
		datadriven.RunTest(t, path, func(_ *testing.T, d *datadriven.TestData) string { return s.Run(d) })
	})
}
