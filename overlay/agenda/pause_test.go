package agenda

import (
	"testing"
	"time"
)

// TestPause: pauses double up to the most, and begin again with what is new.
func TestPause(t *testing.T) {
	const least, most = time.Second, 5 * time.Second
	var p Pause
	if p.End() != 0 {
		t.Errorf("none was begun, and it ends at %v", p.End())
	}
	now := time.Minute
	for i, want := range []time.Duration{1, 2, 4, 5, 5} {
		if p.Begin(now, least, most); p.End() != now+want*time.Second {
			t.Errorf("pause %d from %v to %v, want %d s", i, now, p.End(), want)
		}
		now = p.End()
	}
	p.Shorten(3 * least)
	if p.End() != now-2*time.Second {
		t.Errorf("shortened, it ends at %v", p.End())
	}
	if p.Begin(now, least, most); p.End() != now+most {
		t.Errorf("after that, it lasts until %v", p.End())
	}
}
