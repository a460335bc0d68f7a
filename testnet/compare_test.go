package testnet

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"
)

// A comparison of venn with itself: the same peers and queries twice, and figures of both.
func TestCompare(t *testing.T) {
	cfg := patient(few(TCP))
	cfg.Warmup = 4 * time.Second
	again := VennSystem()
	again.Name, again.Announce = "again", 1
	ballast := make([]byte, 200<<20) // of the process, not of the hosts
	var c *Comparison
	found := func(r SystemRow) bool { return r.FindOne.Recall >= 0.9 && r.FindAll.Recall >= 0.9 }
	Judge(t, func() string { // on a busy machine queries take longer, and what upkeep sends meanwhile counts as theirs
		var err error
		if c, err = Compare(t.Context(), cfg, VennSystem(), again); err != nil {
			t.Fatal(err)
		}
		for _, r := range c.Rows {
			if r.FindOne.Wrong > 0 || r.FindAll.Wrong > 0 {
				t.Errorf("%s: wrong holders: find one %+v, find all %+v", r.System, r.FindOne, r.FindAll)
			}
		}
		if !slices.ContainsFunc(c.Rows, func(r SystemRow) bool { return !found(r) || r.FindOne.Messages > 4 || r.FindOne.Bytes > 400 }) {
			return ""
		}
		return fmt.Sprintf("%+v", c.Rows)
	})
	runtime.KeepAlive(ballast)
	if len(c.Rows) != 2 || c.Rows[0].System != "venn" || c.Rows[1].System != "again" {
		t.Fatalf("rows %+v", c.Rows)
	}
	for _, r := range c.Rows {
		if r.FindOne.Queries != 20 || r.FindAll.Queries != 20 || !found(r) {
			t.Errorf("%s: find one %+v, find all %+v", r.System, r.FindOne, r.FindAll)
		}
		if r.AnnounceBytes <= 0 || r.AnnounceMessages <= 0 || r.HostBytes <= 0 || r.HostBytes > 20e6 {
			t.Errorf("%s: announcing %+v", r.System, r)
		}
		// A question and its answer are two messages of tens of bytes; few candidates are asked in vain.
		if f := r.FindOne; f.Messages < 1.5 || f.Messages > 4 || f.Bytes < 40 || f.Bytes > 400 {
			t.Errorf("%s: %v messages and %v bytes to find one", r.System, f.Messages, f.Bytes)
		}
	}
	if all, few := c.Rows[0].Announced, c.Rows[1].Announced; all != c.Holdings || few == 0 || few >= all {
		t.Errorf("announced %d and %d of %d holdings", all, few, c.Holdings)
	}
	checkComparison(t, c)
	if _, err := json.Marshal(c); err != nil {
		t.Error(err)
	}
}

func TestCompareStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c, err := Compare(ctx, few(TCP), VennSystem())
	if err != nil || c.Stopped == "" || len(c.Rows) != 0 {
		t.Errorf("%+v, %v", c, err)
	}
}
