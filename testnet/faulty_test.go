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
	unharmed := func(rep *Report) bool {
		return rep.QueryErrors == 0 && *rep.FindOne.Recall >= 0.99 && *rep.FindAll.Recall >= 0.99
	}
	missing := func(rep *Report) (reasons []string) {
		for _, reason := range []string{"rpc malformed", "rpc over the limit", "unasked"} {
			if rep.Refused[reason] == 0 {
				reasons = append(reasons, reason)
			}
		}
		return reasons
	}
	rep := goodRun(t, cfg, func(rep *Report) bool { return unharmed(rep) && len(missing(rep)) == 0 })
	if !unharmed(rep) {
		t.Errorf("find one %.3f, find all %.3f, %d errors", *rep.FindOne.Recall, *rep.FindAll.Recall, rep.QueryErrors)
	}
	if reasons := missing(rep); len(reasons) > 0 {
		t.Errorf("nothing was refused as %q: %v", reasons, rep.Refused)
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
