package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/venn-p2p/venn/testnet"
)

// lineEvery is the time between plain lines of one phase.
const lineEvery = 5 * time.Second

// progress shows how far a run is: a bar for each phase on a terminal, else a plain line now and then.
type progress struct {
	w        io.Writer
	terminal bool

	phase testnet.Phase
	bar   *progressbar.ProgressBar
	last  testnet.Progress // told
	said  time.Time        // when the last line was written
	open  bool             // last is not written yet
}

func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	return &progress{w: w, terminal: ok && term.IsTerminal(int(f.Fd()))}
}

func (s *progress) update(p testnet.Progress) {
	if p.Phase != s.phase {
		s.end()
		s.phase, s.said = p.Phase, time.Time{}
		if s.terminal {
			s.bar = progressbar.NewOptions(p.Total, progressbar.OptionSetWriter(s.w), progressbar.OptionSetWidth(30),
				progressbar.OptionSetDescription(fmt.Sprintf("%-16s", p.Phase)), progressbar.OptionShowCount())
		}
	}
	s.last = p
	if s.terminal {
		_ = s.bar.Set(p.Done)
		return
	}
	s.open = true
	if time.Since(s.said) >= lineEvery {
		s.line()
	}
}

func (s *progress) line() {
	fmt.Fprintf(s.w, "%-16s  %d of %d\n", s.last.Phase, s.last.Done, s.last.Total)
	s.said, s.open = time.Now(), false
}

// end finishes what is shown of a phase.
func (s *progress) end() {
	switch {
	case s.bar != nil:
		_ = s.bar.Exit()
		fmt.Fprintln(s.w)
		s.bar = nil
	case s.open:
		s.line()
	}
	s.phase = ""
}
