package main

import (
	"strings"
	"testing"
	"time"
)

// TestProgress walks stages through on a clock of its own.
func TestProgress(t *testing.T) {
	var out strings.Builder
	now := time.Unix(1000, 0)
	start := func(width int, quiet time.Duration) *progress {
		out.Reset()
		p := newProgress(&out, quiet)
		p.now = func() time.Time { return now }
		if width > 0 {
			p.width = func() int { return width }
		}
		return p
	}
	steps := func(p *progress, s stage, each time.Duration, dones ...int) {
		for _, d := range dones {
			s.done = d
			p.update(s)
			now = now.Add(each)
		}
	}
	p := start(0, 2*time.Second)
	steps(p, stage{what: "keys", total: 100}, time.Second/2, 10, 20, 100)
	p.end()
	if out.String() != "" {
		t.Errorf("a short command says %q", out.String())
	}
	p = start(0, 2*time.Second)
	steps(p, stage{what: "keys", total: 100}, time.Second, 0, 10, 20, 30, 40, 50, 60, 70)
	steps(p, stage{what: "files"}, time.Second, 5)
	p.end()
	if got, want := out.String(), "keys              20 of 100  10/s  8s left\nkeys              70 of 100  10/s  3s left\n"; got != want {
		t.Errorf("lines\n%swant\n%s", got, want)
	}
	p = start(40, 0)
	steps(p, stage{what: "keys", total: 4}, time.Second, 0, 1, 2)
	p.end()
	if got, want := out.String(), "\r\x1b[Kkeys              0 of 4"+
		"\r\x1b[Kkeys              1 of 4  1/s  3s left"+
		"\r\x1b[Kkeys              2 of 4  1/s  2s left\n"; got != want {
		t.Errorf("on a narrow terminal\n%q want\n%q", got, want)
	}
	p = start(0, 0)
	steps(p, stage{what: "keys", total: 1000}, 5*time.Second, 0, 9, 10)
	if got := out.String(); strings.Count(got, "left") != 1 || !strings.HasSuffix(got, "keys              10 of 1000  1/s  16m30s left\n") {
		t.Errorf("less than a hundredth is said to foretell the rest: %q", got)
	}
	p = start(100, 0)
	steps(p, stage{what: "keys", total: 4}, time.Second, 1, 2)
	p.end()
	if got := out.String(); !strings.HasSuffix(got, "\r\x1b[K[==========          ] keys              2 of 4  2/s  2s left\n") {
		t.Errorf("on a terminal %q", got)
	}
	p = start(200, 0)
	p.update(stage{what: "run 2 of 3", share: 0.5, whole: true}) // half was done before
	now = now.Add(10 * time.Second)
	p.update(stage{what: "run 3 of 3", share: 0.75, whole: true})
	p.end()
	if got := out.String(); !strings.HasSuffix(got, "run 3 of 3        75 %  10s left\n") || strings.Count(got, "\n") != 1 {
		t.Errorf("of all runs: %q", got)
	}
}
