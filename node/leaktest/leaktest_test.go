package leaktest

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { Main(m) }

// TestCheck: what ends late is waited for, and what does not end is a fault.
func TestCheck(t *testing.T) {
	before := goleak.IgnoreCurrent()
	go time.Sleep(2 * time.Second) // longer than goleak waits
	Check(t, before)
	end := make(chan struct{})
	go func() { <-end }()
	if goleak.Find(before) == nil {
		t.Error("a goroutine that is there is not seen")
	}
	close(end)
}
