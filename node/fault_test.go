package node

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
)

// lines is a log that can be read while it is written. What there is no room for is lost.
type lines chan string

func (l lines) Write(b []byte) (int, error) {
	select {
	case l <- string(b):
	default:
	}
	return len(b), nil
}

// A core that panics ends its node with an error, and not the program.
func TestPanicClosesTheNode(t *testing.T) {
	log := make(lines, 1000)
	n := newNode(t, WithLogger(slog.New(slog.NewTextHandler(log, nil))))
	add(t, n, []byte("key"))
	open, err := n.Query(t.Context(), []byte("nobody's"), QueryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	err = n.view(t.Context(), func(l *loop) { l.step(unknown{}) })
	if !errors.Is(err, ErrFault) || !errors.Is(err, ErrClosed) || !strings.Contains(err.Error(), "input of type node.unknown") {
		t.Errorf("the call that met the fault: %v", err)
	}
	select {
	case <-n.Done():
	case <-time.After(time.Minute):
		t.Fatal("the node goes on")
	}
	if _, err := n.Status(t.Context()); !errors.Is(err, ErrFault) {
		t.Errorf("status: %v", err)
	}
	if _, err := n.Add(t.Context(), []byte("k")); !errors.Is(err, ErrFault) {
		t.Errorf("add: %v", err)
	}
	if _, err := open.Stats(); err != nil && !errors.Is(err, ErrFault) {
		t.Errorf("a query under way: %v", err)
	}
	for range 2 {
		if err := n.Close(); !errors.Is(err, ErrFault) {
			t.Errorf("close: %v", err)
		}
	}
	for stack := false; !stack; {
		select {
		case line := <-log:
			stack = strings.Contains(line, "loop.go")
		default:
			t.Fatal("no stack in the log")
		}
	}
	again := nodeOn(t, n.Host())
	if _, err := again.Status(t.Context()); err != nil {
		t.Errorf("another node on the host: %v", err)
	}
}

// unknown is an input that concerns no machine.
type unknown struct{}

func (unknown) For() event.Machines { return 0 }
