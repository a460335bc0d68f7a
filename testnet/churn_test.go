package testnet

import (
	"testing"
	"time"
)

// While collections change, peers follow by deltas and find what there is.
func TestChurn(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute: summaries are published every 20 s")
	}
	cfg := few(TCP)
	cfg.Churn, cfg.Minutes, cfg.Warmup, cfg.Chunk = 0.05, 0.4, 2*time.Second, 1<<17
	rep, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := rep.Churn
	if c == nil || c.Minutes < cfg.Minutes || c.Added == 0 || c.Removed == 0 {
		t.Fatalf("churn %+v", c)
	}
	if rep.EpochsPublished < 2*rep.Peers || rep.Deltas < rep.Peers || rep.DeltaBytes == 0 || 2*rep.DeltaBytes > rep.FullBytes {
		t.Errorf("%d epochs published, %d deltas, %d bytes of them for %d of parts", rep.EpochsPublished, rep.Deltas, rep.DeltaBytes, rep.FullBytes)
	}
	if rep.Queries != 40 || rep.WrongHolders > 0 || *rep.FindOne.Recall < 0.9 || *rep.FindAll.Recall < 0.9 || len(c.Recall) != 1 {
		t.Errorf("%d queries, %d wrong holders, find one %+v, find all %+v, by minute %v", rep.Queries, rep.WrongHolders, rep.FindOne, rep.FindAll, c.Recall)
	}
	if rep.LinkBudgetUse > 1 || *rep.GoroutinesLeft != 0 {
		t.Errorf("budget use %v, %d goroutines left", rep.LinkBudgetUse, *rep.GoroutinesLeft)
	}
	checkTable(t, rep)
	checkJSON(t, rep)
}
