package core

import (
	"testing"
	"time"
)

// TestSchedule plays changes of keys, a tick every quarter of a second, and holds the instants of new epochs to what
// they should be.
func TestSchedule(t *testing.T) {
	const s = time.Second
	every := func(step time.Duration, from, to time.Duration, changes int) map[time.Duration]int {
		m := make(map[time.Duration]int)
		for at := from; at <= to; at += step {
			m[at] = changes
		}
		return m
	}
	for _, c := range []struct {
		name    string
		keys    int
		changes map[time.Duration]int
		until   time.Duration
		want    []time.Duration
	}{
		{"first", 100, map[time.Duration]int{3 * s: 100}, 60 * s, []time.Duration{3*s + settle}},
		{"none", 100, nil, 3 * time.Hour, nil},
		{"after a quiet time", 10_000, map[time.Duration]int{0: 10_000, 40 * s: 1, 70 * s: 1}, 120 * s, []time.Duration{settle, 40*s + settle, 70*s + settle}},
		{"soon after", 100, map[time.Duration]int{0: 100, 5 * s: 1}, 60 * s, []time.Duration{settle, settle + MostSpacing}},
		{"many, all the time", 10_000, every(s, 0, 50*s, 10), 65 * s, []time.Duration{settle, settle + 20*s, settle + 40*s, settle + 60*s}},
		{"few, all the time", 10_000, every(5*s, 0, 290*s, 1), 290 * s, []time.Duration{settle, 50 * s, 100 * s, 150 * s, 200 * s, 250 * s}},
		{"too few", 1_000_000, every(5*s, 0, 290*s, 1), 290 * s, []time.Duration{settle, 5*s + overdue, 130*s + overdue}},
		{"renewed", 100, map[time.Duration]int{0: 100}, 8 * time.Hour, []time.Duration{settle, settle + Lifetime/2, settle + 3*Lifetime/2, settle + 7*Lifetime/2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := schedule{spacing: MostSpacing}
			var got []time.Duration
			for now := time.Duration(0); now <= c.until; now += s / 4 {
				if k := c.changes[now]; k > 0 {
					p.wait(now, p.changes+k, false)
				}
				if p.due() <= now {
					p.begin(now)
					p.keys = c.keys
					got = append(got, now)
				}
			}
			if len(got) != len(c.want) {
				t.Fatalf("epochs at %v, want %v", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Fatalf("epochs at %v, want %v", got, c.want)
				}
			}
		})
	}
}
