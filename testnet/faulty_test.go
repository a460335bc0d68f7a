package testnet

import (
	"testing"
	"time"
)

// Peers that misbehave in every way that they know do no harm. All that is there is found, and what they sent is
// refused by name.
func TestFaultyPeers(t *testing.T) {
	cfg := patient(few(TCP))
	cfg.Faulty, cfg.Queries, cfg.Warmup = 4, 50, 10*time.Second // a false claim costs an ask, which ends after 4 s
	cfg.Observer = missed{t}
	rep, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if rep.QueryErrors > 0 || rep.WrongHolders > 0 || *rep.FindOne.Recall < 0.99 || *rep.FindAll.Recall < 0.99 {
		t.Errorf("find one %.3f, find all %.3f, %d errors, %d wrong holders", *rep.FindOne.Recall, *rep.FindAll.Recall, rep.QueryErrors, rep.WrongHolders)
	}
	for _, reason := range []string{"rpc malformed", "rpc over the limit", "unasked"} {
		if rep.Refused[reason] == 0 {
			t.Errorf("nothing refused as %q: %v", reason, rep.Refused)
		}
	}
	if rep.Wronged > 0 {
		t.Errorf("%d messages of honest peers were refused: %v", rep.Wronged, rep.Refused)
	}
	if *rep.GoroutinesLeft != 0 {
		t.Errorf("%d goroutines left", *rep.GoroutinesLeft)
	}
	t.Logf("refused %v", rep.Refused)
}

// missed logs the queries that found nobody.
type missed struct{ t *testing.T }

func (missed) Started(Running) {}

func (m missed) Answered(a Answered) {
	if len(a.Found) == 0 {
		m.t.Logf("peer %d found nobody, all %v: %+v, %v", a.Asker, a.All, a.Stats, a.Err)
	}
}
