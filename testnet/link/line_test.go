package link

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// joined are the ends of a connection between two lines.
func joined(t *testing.T, a, b *Line, latency time.Duration) (net.Conn, net.Conn) {
	x, y := net.Pipe()
	late := func() time.Duration { return latency }
	ca, cb := a.Conn(x, late), b.Conn(y, late)
	t.Cleanup(func() { ca.Close(); cb.Close() })
	return ca, cb
}

const mebi = 1 << 20

// carry sends n bytes and returns the rate at which they were there, in bit/s.
func carry(t *testing.T, from, to net.Conn, n int) float64 {
	t.Helper()
	began := time.Now()
	go func() {
		if _, err := from.Write(make([]byte, n)); err != nil {
			t.Error(err)
		}
	}()
	if _, err := io.ReadFull(to, make([]byte, n)); err != nil {
		t.Error(err)
	}
	return 8 * float64(n) / time.Since(began).Seconds()
}

// The slower end tells, whichever it is, in either direction, and also beside traffic the other way.
func TestLineRates(t *testing.T) {
	const fast = 1_000_000_000
	for _, c := range []struct {
		rate uint64
		off  float64 // at most
	}{{256_000, 0.02}, {2_000_000, 0.02}, {10_000_000, 0.03}} {
		for name, lines := range map[string][2]*Line{
			"up":   {NewLine(c.rate, fast), NewLine(fast, fast)},
			"down": {NewLine(fast, fast), NewLine(fast, c.rate)},
			"both": {NewLine(c.rate, c.rate), NewLine(c.rate, c.rate)},
		} {
			t.Run(fmt.Sprint(c.rate, name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					a, b := joined(t, lines[0], lines[1], 10*time.Millisecond)
					check := func(way string, got float64) {
						if math.Abs(got/float64(c.rate)-1) > c.off {
							t.Errorf("%s: 1 MiB at %.0f bit/s, want %d", way, got, c.rate)
						}
					}
					check("one way", carry(t, a, b, mebi))
					if name != "both" {
						return
					}
					back := make(chan float64)
					go func() { back <- carry(t, b, a, mebi) }()
					check("there", carry(t, a, b, mebi))
					check("and back", <-back)
				})
			})
		}
	}
}

// Connections of one peer share its line.
func TestLineIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own, others := NewLine(1_000_000, 2_000_000), NewLine(1_000_000_000, 1_000_000_000)
		const n = 4
		began := time.Now()
		rates := make(chan float64)
		for range n {
			a, b := joined(t, own, others, 0)
			go func() { rates <- carry(t, a, b, mebi/n) }()
		}
		for range n {
			if r := <-rates; r < 240_000 || r > 300_000 {
				t.Errorf("one of %d at %.0f bit/s", n, r)
			}
		}
		if r := 8 * mebi / time.Since(began).Seconds(); math.Abs(r/1e6-1) > 0.02 {
			t.Errorf("together at %.0f bit/s", r)
		}
	})
}

// A byte takes the latency there and back; many on their way do not wait for each other's.
func TestLineLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := func() *Line { return NewLine(1_000_000_000, 1_000_000_000) }
		a, b := joined(t, line(), line(), 40*time.Millisecond)
		go func() { _, _ = io.Copy(b, b) }()
		for range 3 {
			began := time.Now()
			if _, err := a.Write([]byte{1}); err != nil {
				t.Fatal(err)
			}
			if _, err := a.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			if d := time.Since(began); d < 80*time.Millisecond || d > 82*time.Millisecond {
				t.Errorf("there and back in %v", d)
			}
		}
		if r := carry(t, a, a, mebi); r < 80e6 {
			t.Errorf("1 MiB there and back at %.0f bit/s", r)
		}
	})
}

// A line that was idle carries no more for it.
func TestLineSavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := joined(t, NewLine(1_000_000, 1_000_000), NewLine(1_000_000, 1_000_000), 0)
		for range 5 {
			time.Sleep(time.Minute)
			if r := carry(t, a, b, 20_000); r > 1_000_000 {
				t.Errorf("20 kB at %.0f bit/s", r)
			}
		}
	})
}

// Waits that end late cost no rate.
func TestLateWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, y := net.Pipe()
		defer y.Close()
		c := NewLine(256_000, 256_000).Conn(x, nil).(*conn)
		defer c.Close()
		began := time.Now()
		var passed time.Time
		for range 100 {
			passed, _ = c.pass(1200, &c.line.up, &c.up)
			const late = 20 * time.Millisecond // as if the timer had been; 1200 bytes take 37.5 ms
			c.up += lateness(late)
			time.Sleep(late)
		}
		if d := passed.Sub(began).Seconds(); math.Abs(d-120_000/32_000.) > slack.Seconds() {
			t.Errorf("120 kB in %v s", d)
		}
	})
}

func TestLineDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := joined(t, NewLine(8000, 8000), NewLine(1e9, 1e9), 0)
		began := time.Now()
		timeout := func(what string, err error, after time.Duration) {
			t.Helper()
			var n net.Error
			if d := time.Since(began); !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &n) || !n.Timeout() || d != after {
				t.Errorf("%s ended after %v, want %v: %v", what, d, after, err)
			}
		}
		_ = a.SetReadDeadline(began.Add(time.Second))
		_, err := a.Read(make([]byte, 1))
		timeout("Read", err, time.Second)
		_, err = a.Read(make([]byte, 1))
		timeout("Read past the deadline", err, time.Second)

		_ = a.SetDeadline(began.Add(4 * time.Second)) // 1200 bytes take 1.2 s
		n, err := a.Write(make([]byte, 100_000))
		timeout("Write", err, 4*time.Second)
		if n != 3600 { // the last of three is on the line
			t.Errorf("%d bytes written by then", n)
		}
		_ = a.SetDeadline(time.Time{})
		go func() {
			time.Sleep(time.Minute)
			_, _ = b.Write([]byte{7})
		}()
		got := make([]byte, 1)
		if _, err := a.Read(got); err != nil || got[0] != 7 {
			t.Errorf("without a deadline: %v, %v", got, err)
		}
	})
}

func TestLineClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := joined(t, NewLine(8000, 8000), NewLine(1e9, 1e9), time.Second)
		ended := make(chan error, 2)
		go func() { _, err := a.Write(make([]byte, 100_000)); ended <- err }()
		go func() { _, err := a.Read(make([]byte, 1)); ended <- err }()
		time.Sleep(1500 * time.Millisecond) // the first 1200 bytes are on their way
		a.Close()
		for range 2 {
			if err := <-ended; !errors.Is(err, io.ErrClosedPipe) {
				t.Error(err)
			}
		}
		if got, err := io.ReadAll(b); len(got) != 1200 || err != nil {
			t.Errorf("%d bytes arrived before the end, %v", len(got), err)
		}
		if n, err := b.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("%d, %v after the end", n, err)
		}
		if _, err := a.Write([]byte{1}); err == nil {
			t.Error("written to a closed connection")
		}
	})
}
