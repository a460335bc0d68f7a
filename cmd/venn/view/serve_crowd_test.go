package view

import (
	"errors"
	"net/http"
	"os"
	"testing"
	"time"
)

// TestServeCrowd serves the page of 1,000 peers at an address, for .ci/page, until it is killed. The peers go on saying
// how they are.
func TestServeCrowd(t *testing.T) {
	addr := os.Getenv("VENN_VIEW_CROWD")
	if addr == "" {
		t.Skip("serves a page: .ci/page")
	}
	f := NewFeed(Header{}, 0)
	go func() {
		crowd(f, 1000, 4)
		t.Log("all know all")
		for look := uint64(0); ; look++ {
			for n := range 1000 {
				f.Publish(Status{N: n, Keys: 1000, Links: 20, Origins: 1000, Sent: look * 1000, Received: look * 1000})
			}
			time.Sleep(32 * lookEvery)
		}
	}()
	server := &http.Server{Addr: addr, Handler: Handler(Config{Source: f}), ReadHeaderTimeout: time.Minute}
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		t.Fatal(err)
	}
}
