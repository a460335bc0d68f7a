package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/venn-p2p/venn/node/bounded"
)

// TestEachRequest: the whole lines are sent, in requests that say at which line they begin, up to the first error.
func TestEachRequest(t *testing.T) {
	broken := fmt.Errorf("the line is gone: %w", io.EOF)
	refused := errors.New("no")
	full := strings.Repeat("k\n", requestKeys)
	for name, c := range map[string]struct {
		in    io.Reader
		fail  int // which request fails, from 1; 0: none
		bytes int // sent without an error
		want  []error
		usage bool // it is a fault of the input
	}{
		"nothing":           {in: strings.NewReader("")},
		"one line":          {in: strings.NewReader("key"), bytes: 4},
		"two requests":      {in: strings.NewReader(full + "k\n"), bytes: len(full) + 2},
		"read error":        {in: io.MultiReader(strings.NewReader(full+"a\nb\ncut sh"), iotest.ErrReader(broken)), bytes: len(full) + 4, want: []error{broken}},
		"line too long":     {in: strings.NewReader(full + strings.Repeat("x", bounded.MaxBytes+1)), bytes: len(full), usage: true},
		"refused":           {in: strings.NewReader(full + full + full), fail: 1, want: []error{refused}},
		"refused at last":   {in: strings.NewReader(full + "k\n"), fail: 2, bytes: len(full), want: []error{refused}},
		"refused, and read": {in: io.MultiReader(strings.NewReader("k\n"), iotest.ErrReader(broken)), fail: 1, want: []error{refused}},
	} {
		sent, requests, line := 0, 0, 1
		err := eachRequest(c.in, func(first int, body []byte) error {
			if requests++; requests == c.fail {
				return refused
			}
			if first != line {
				t.Errorf("%s: a request begins at line %d, want %d", name, first, line)
			}
			sent, line = sent+len(body), line+strings.Count(string(body), "\n")
			return nil
		})
		if sent != c.bytes {
			t.Errorf("%s: %d bytes sent, want %d", name, sent, c.bytes)
		}
		if len(c.want) == 0 && !c.usage && err != nil || isUsage(err) != c.usage {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range c.want {
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
		}
	}
}

// TestShare: all is said only of the whole, and what is missing is not rounded away.
func TestShare(t *testing.T) {
	for covered, want := range map[float64]string{0: "none", 0.41: ".41", 0.4199: ".41", 0.9999: ".99", 1: "all"} {
		if got := share(covered); got != want {
			t.Errorf("share(%v) = %q, want %q", covered, got, want)
		}
	}
}
