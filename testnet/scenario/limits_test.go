package scenario_test

import (
	"strings"
	"testing"

	"github.com/venn-p2p/venn/testnet/scenario"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// A collection's numbers go up to 268,435,456, and no further.
func TestLargestCollection(t *testing.T) {
	for _, key := range []string{"keys", "size", "copies"} {
		const head = "question = \"?\"\npeers = 10\n[collections]\n"
		if _, err := scenario.Parse("name.toml", head+key+" = 268435456"); err != nil {
			t.Error(err)
		}
		if _, err := scenario.Parse("name.toml", head+key+" = 268435457"); err == nil || !strings.Contains(err.Error(), "collections."+key) {
			t.Errorf("more %s than a plan bears: %v", key, err)
		}
	}
}

// A parameter may have the least and the largest value of its range, and none beyond.
func TestHeededRange(t *testing.T) {
	of := []strategy.Strategy{{Name: "one", Parameters: []strategy.Parameter{{Name: "bits", Low: 2, High: 8, Whole: true}}}}
	for value, right := range map[string]bool{"1": false, "2": true, "2.5": false, "8": true, "9": false} {
		s := parse(t, "question = \"?\"\npeers = 10\n[parameters]\nbits = "+value)
		if err := s.Heeded(of); (err == nil) != right {
			t.Errorf("bits = %s: %v", value, err)
		}
	}
}
