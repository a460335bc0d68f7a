package testnet

import (
	"testing"
	"time"
)

// While collections change, peers follow by tails, without new epochs, and find what there is.
func TestChurn(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	cfg := patient(few(TCP))
	cfg.Churn, cfg.Minutes, cfg.Warmup, cfg.Chunk = 0.05, 0.4, 2*time.Second, 1<<17
	// On a busy machine, changes that no tail carries within half a second are left to an epoch.
	rep := goodRun(t, cfg, func(rep *Report) bool {
		return rep.EpochsPublished == rep.Peers && *rep.FindOne.Recall >= 0.9 && *rep.FindAll.Recall >= 0.9
	})
	c := rep.Churn
	if c == nil || c.Minutes < cfg.Minutes || c.Added == 0 || c.Removed == 0 {
		t.Fatalf("churn %+v", c)
	}
	if rep.EpochsPublished != rep.Peers {
		t.Errorf("%d epochs published by %d peers: tails bear these changes", rep.EpochsPublished, rep.Peers)
	}
	if rep.Queries != 40 || *rep.FindOne.Recall < 0.9 || *rep.FindAll.Recall < 0.9 || len(c.Recall) != 1 {
		t.Errorf("%d queries, find one %+v, find all %+v, by minute %v", rep.Queries, rep.FindOne, rep.FindAll, c.Recall)
	}
	checkTable(t, rep)
	checkJSON(t, rep)
}
