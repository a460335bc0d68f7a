package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/venn-p2p/venn/testnet/page"
)

const (
	lineEvery = 5 * time.Second        // time between plain lines of one stage
	drawEvery = 100 * time.Millisecond // time between drawings on a terminal
	quietTime = 2 * time.Second        // shorter work needs no progress
	barWidth  = 20                     // width of the bar, in characters
	barFrom   = 72                     // least width, in characters, of a terminal that shows a bar
	leastGain = 0.01                   // share of the whole: a smaller gain does not foretell the time left
)

// stage is the progress of one piece of work.
type stage struct {
	what        string
	done, total int     // total 0: not known
	share       float64 // share of the work that is done, if total is 0; 0: not known
	whole       bool    // share and time left are of all stages, not of this one
}

// part returns the share that is done; 0 when it is not known.
func (s stage) part() float64 {
	if s.total > 0 {
		return float64(s.done) / float64(s.total)
	}
	return s.share
}

// progress shows the progress of a command: the work, the amount, the speed, the time left. On a terminal one line
// shows the present stage, elsewhere there is a line now and then. It is safe for concurrent use.
type progress struct {
	w     io.Writer
	width func() int // returns the terminal's width in characters; nil: w is no terminal
	quiet time.Duration
	now   func() time.Time

	mu    sync.Mutex
	stage stage
	first float64   // the part that was done when the stage began
	began time.Time // when the stage began; zero: none has begun
	said  time.Time // last line or drawing; zero: none yet in this stage
	open  bool      // the stage has gone on since the last line
}

// newProgress shows on w the progress of work that lasts longer than quiet.
func newProgress(w io.Writer, quiet time.Duration) *progress {
	p := &progress{w: w, quiet: quiet, now: time.Now}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.width = func() int { width, _ := page.Size(f); return width }
	}
	return p
}

// update takes the state of the work, and shows it if the last showing is long enough ago. A stage with another name
// ends the present one.
func (p *progress) update(s stage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.began.IsZero() || s.what != p.stage.what {
		p.finish(!s.whole)
		if p.began.IsZero() || !s.whole {
			p.began, p.first = now, s.part()
		}
	}
	p.stage, p.open = s, true
	every := lineEvery
	if p.width != nil {
		every = drawEvery
	}
	if now.Sub(p.began) >= p.quiet && now.Sub(p.said) >= every {
		p.say(now)
	}
}

// end ends the last stage and its line.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finish(true)
	p.began = time.Time{}
}

// finish shows the end of the present stage, if the stage was shown or lasted long enough. With newLine, the next stage
// gets a line of its own on a terminal.
func (p *progress) finish(newLine bool) {
	now := p.now()
	if p.open && (!p.said.IsZero() || !p.began.IsZero() && now.Sub(p.began) >= p.quiet) {
		p.say(now)
	}
	if newLine && p.width != nil && !p.said.IsZero() {
		fmt.Fprintln(p.w)
	}
	p.said, p.open = time.Time{}, false
}

// say shows the present stage: on a terminal in place of the last text, elsewhere on a line of its own.
func (p *progress) say(now time.Time) {
	p.said, p.open = now, false
	text := p.text(now.Sub(p.began))
	if p.width == nil {
		fmt.Fprintln(p.w, text)
		return
	}
	width := p.width()
	if part := p.stage.part(); part > 0 && width >= barFrom {
		full := int(part * barWidth)
		text = fmt.Sprintf("[%s%s] %s", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), text)
	}
	if r, most := []rune(text), max(1, width-1); len(r) > most {
		text = string(r[:most])
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", text)
}

// text describes the progress of the stage, the given time after its beginning.
func (p *progress) text(after time.Duration) string {
	s, part := p.stage, p.stage.part()
	text := fmt.Sprintf("%-16s", s.what)
	switch {
	case s.total > 0:
		text += fmt.Sprintf("  %d of %d", s.done, s.total)
	case s.done > 0:
		text += fmt.Sprintf("  %d", s.done)
	}
	if s.total == 0 && part > 0 {
		text += fmt.Sprintf("  %.0f %%", 100*part)
	}
	if after < time.Second {
		return text
	}
	if s.done > 0 {
		text += fmt.Sprintf("  %s/s", threeDigits(float64(s.done)/after.Seconds()))
	}
	if gained := part - p.first; gained >= leastGain && part < 1 {
		left := time.Duration(float64(after) * (1 - part) / gained)
		text += fmt.Sprintf("  %v left", left.Round(time.Second))
	}
	return text
}

// threeDigits formats x with three digits, or with all digits before the point if they are more.
func threeDigits(x float64) string {
	if x >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}
