package httpapi

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// TestSlowRequest: a request whose body does not come is ended, whatever it asks for.
func TestSlowRequest(t *testing.T) {
	defer func(d time.Duration) { readTime = d }(readTime)
	readTime = time.Second
	n := newNode(t)
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	ctx, cancel := context.WithCancel(t.Context())
	var served sync.WaitGroup
	defer func() { cancel(); served.Wait() }()
	served.Go(func() { _ = Serve(ctx, l, Control(Config{Node: n, Registry: prometheus.NewRegistry()})) })
	var open []net.Conn
	for _, path := range []string{"/nowhere", "/debug/pprof/cmdline", "/health/live"} {
		c := must(net.Dial("tcp", l.Addr().String()))
		defer c.Close()
		must(fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n", path))
		open = append(open, c)
	}
	for i, c := range open {
		if err := c.SetReadDeadline(time.Now().Add(readTime + 10*time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(c); err != nil {
			t.Errorf("number %d: %v", i, err)
		}
	}
}
