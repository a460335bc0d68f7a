package testnet

import (
	"encoding/json"
	"testing"
	"time"
)

// Keys that peers add while queries run are found by others, and cost what tails cost, not what summaries cost. Peers
// follow other changes by tails, too, without new epochs, and find what there is.
func TestAdds(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a quarter of a minute")
	}
	if !apart(t) {
		return
	}
	cfg := patient(few(TCP))
	cfg.Adds, cfg.Minutes, cfg.Churn, cfg.Chunk = 2, 0.15, 0.1, 1<<17
	// A finder may be too late. On a busy machine, changes that no tail carries within half a second are left to an epoch.
	followed := func(rep *Report) bool {
		return rep.EpochsPublished == rep.Peers && *rep.FindOne.Recall >= 0.9 && *rep.FindAll.Recall >= 0.9
	}
	rep := goodRun(t, cfg, func(rep *Report) bool { return rep.Adds != nil && rep.Adds.All.Never == 0 && followed(rep) })
	if c := rep.Churn; c == nil || c.Minutes < cfg.Minutes || c.Added == 0 || c.Removed == 0 || len(c.Recall) != 1 {
		t.Fatalf("churn %+v", c)
	}
	if !followed(rep) {
		t.Errorf("%d epochs published by %d peers, find one %+v, find all %+v", rep.EpochsPublished, rep.Peers, rep.FindOne, rep.FindAll)
	}
	a := rep.Adds
	if a == nil || a.Added == 0 || a.Added > 2*9*rep.Peers || a.Changed != a.Added+rep.Churn.Added+rep.Churn.Removed {
		t.Fatalf("adds %+v", a)
	}
	keys := 0
	for name, f := range a.Classes {
		keys += f.Keys
		if f.Keys == 0 || f.Never > 0 || *f.Recall != 1 || f.P50 == nil || *f.P50 <= 0 || *f.P99 < *f.P50 {
			t.Errorf("finders of %s: %+v", name, f)
		}
		if f.Bytes <= 0 || f.BudgetUse <= 0 {
			t.Errorf("to %s: %v bytes a change and receiver, budget use %v", name, f.Bytes, f.BudgetUse)
		}
	}
	if a.Tails <= 0 || a.Tails > a.All.Bytes {
		t.Errorf("%v bytes a change and receiver, %v of them in messages of tails", a.All.Bytes, a.Tails)
	}
	// The six peers are two of each class, so that every key has a finder in each.
	if keys != 3*a.Added || a.Asked < 2 || a.All.Keys != keys || len(a.Classes) != 3 {
		t.Errorf("%d keys added, %d looked for in %d classes, %d in all", a.Added, keys, len(a.Classes), a.All.Keys)
	}
	if rep.Queries != 40 {
		t.Errorf("%d queries", rep.Queries)
	}
	checkTable(t, rep)
	checkJSON(t, rep)
}

// A key that is never found is in no time, and counts against recall and quantiles.
func TestFreshness(t *testing.T) {
	s := sought{took: []time.Duration{3 * time.Millisecond, time.Millisecond, 2 * time.Millisecond}, never: 1, bytes: 100, use: 0.5}
	f := s.report(10)
	if f.Keys != 4 || f.Never != 1 || *f.Recall != 0.75 || *f.P50 != 2 || f.P99 != nil || f.Bytes != 10 || f.BudgetUse != 0.5 {
		t.Errorf("%+v", f)
	}
	all := sought{took: []time.Duration{9 * time.Millisecond}, wrong: 2, use: 0.25}
	all.merge(&s)
	if f := all.report(0); f.Keys != 5 || f.Wrong != 2 || *f.P50 != 3 || f.Bytes != 0 || f.BudgetUse != 0.5 {
		t.Errorf("merged %+v", f)
	}
	if f := (&sought{}).report(0); f.Recall != nil || f.P50 != nil || f.P99 != nil {
		t.Errorf("of none %+v", f)
	}
	b, err := json.Marshal((&sought{never: 1}).report(1))
	if err != nil || string(b) != `{"keys":1,"never_found":1,"wrong_holders":0,"recall":0,"p50_ms":null,"p99_ms":null,"bytes_per_change_and_receiver":0,"link_budget_use_max":0}` {
		t.Errorf("%s, %v", b, err)
	}
	rep := &Report{Classes: map[string]Class{"slow": {Rate: 1}}, Adds: &Adds{Within: 10, Classes: map[string]Freshness{"slow": (&sought{never: 12345}).report(1)}}}
	checkTable(t, rep)
}
