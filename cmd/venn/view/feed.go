package view

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"
)

// keptQueries is the number of queries, the latest, that the present state has.
const keptQueries = 500

// Feed keeps the events of a network for its viewers. It is safe for concurrent use.
type Feed struct {
	header Header
	began  time.Time
	limit  int

	mu        sync.Mutex
	lines     [][]byte // lines of the history
	bytes     int      // bytes of the history
	gone      int      // number of earlier lines, which were dropped
	goneBytes int
	state     state         // present state: the sum of all events so far
	grown     chan struct{} // closed, and replaced by a new channel, when there are more lines
	closed    bool
	viewers   int
}

// NewFeed returns a feed whose time begins now. It keeps up to about keep bytes of events as the history; 0: 64 MiB.
// When there are more, it drops the history, and later viewers get the present state.
func NewFeed(h Header, keep int) *Feed {
	if keep == 0 {
		keep = 64 << 20
	}
	h.Version, h.Began = Version, time.Now().UTC()
	f := &Feed{header: h, began: time.Now(), limit: keep, grown: make(chan struct{}), state: newState()}
	f.append(f.headerLine())
	return f
}

func (f *Feed) headerLine() []byte {
	line, err := json.Marshal(f.header)
	if err != nil {
		panic(err)
	}
	return append(line, '\n')
}

// Publish adds events, in their order. It leaves out events without news. Of a Held, it adds only the cells that
// have changed.
func (f *Feed) Publish(events ...Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	if f.bytes > f.limit { // before the new events are added: followers that keep up have read all others
		f.gone, f.goneBytes = f.gone+len(f.lines), f.goneBytes+f.bytes
		f.lines, f.bytes = nil, 0
	}
	for _, e := range events {
		if e, ok := f.state.take(e); ok {
			f.append(encode(e, time.Since(f.began)))
		}
	}
	close(f.grown)
	f.grown = make(chan struct{})
}

func (f *Feed) append(line []byte) {
	f.lines = append(f.lines, line)
	f.bytes += len(line)
}

// Close ends the feed. Later events are ignored.
func (f *Feed) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.closed = true
		close(f.grown)
	}
}

// Viewers returns the number of followers of the feed.
func (f *Feed) Viewers() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.viewers
}

const (
	// batchBytes bounds the bytes of lines that are written at a time, unless one line is longer. A line of 52
	// kbit/s carries them within writeTime.
	batchBytes = 64 << 10
	// patience is the longest time that a viewer may take, at its pace so far, to read the rest of the history.
	patience = 15 * time.Second
	// judgedAfter is the time that writes to a viewer must have taken before its pace counts.
	judgedAfter = time.Second
	// keepAlive is the time after which a follower without new lines gets an empty batch.
	keepAlive = 15 * time.Second
)

// Follow calls write with the lines of the history, the earliest first, and with new ones as they come. It ends when
// ctx ends, the feed is closed or write fails. A follower starts over, with a header and the present state, if lines
// that it has not read were dropped. It also starts over if it needs more than 15 s, at its pace, to read the rest.
// After 15 s without a new line, Follow calls write without lines.
func (f *Feed) Follow(ctx context.Context, write func(lines [][]byte) error) error {
	return f.follow(ctx, write, true)
}

// follow does the same as Follow, but a follower that is not hasty does not start over because of its pace.
func (f *Feed) follow(ctx context.Context, write func(lines [][]byte) error, hasty bool) error {
	f.count(1)
	defer f.count(-1)
	var pace pace
	for place := (place{}); ; {
		lines, grown, over := f.next(&place)
		if len(lines) > 0 {
			began := time.Now()
			if err := write(lines); err != nil {
				return err
			}
			pace.add(lines, time.Since(began))
			if hasty {
				f.hurry(&place, &pace)
			}
			continue
		}
		if over {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-grown:
		case <-time.After(keepAlive):
			if err := write(nil); err != nil {
				return err
			}
		}
	}
}

func (f *Feed) count(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.viewers += n
}

// pace measures how fast a follower reads.
type pace struct {
	bytes int           // bytes written
	spent time.Duration // time that the writes took
}

func (p *pace) add(lines [][]byte, took time.Duration) {
	for _, l := range lines {
		p.bytes += len(l)
	}
	p.spent += took
}

// slow reports whether a follower would take longer than patience to read this number of bytes.
func (p *pace) slow(bytes int) bool {
	return p.spent > judgedAfter && float64(bytes)*p.spent.Seconds() > float64(p.bytes)*patience.Seconds()
}

// place is a follower's position: the number of all lines so far that it has passed, and their bytes. If it has a
// present state to read, that comes before the lines after the position.
type place struct {
	lines, bytes int
	header       []byte        // header of the present state; nil: none, or written already
	present      []Event       // events of the present state that are yet to be written
	at           time.Duration // time of the present state
}

// next returns the next lines for a place, and moves it behind them. grown is closed when there are more lines. over
// means that the feed is closed. Lines of the present state come with neither.
func (f *Feed) next(p *place) (lines [][]byte, grown <-chan struct{}, over bool) {
	if lines = p.nextPresent(); len(lines) > 0 {
		return lines, nil, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if p.lines < f.gone {
		f.skip(p)
		return p.nextPresent(), nil, false
	}
	begin, size := p.lines-f.gone, 0
	end := begin
	for ; end < len(f.lines) && (size == 0 || size+len(f.lines[end]) <= batchBytes); end++ {
		size += len(f.lines[end])
	}
	p.lines, p.bytes = f.gone+end, p.bytes+size
	return f.lines[begin:end:end], f.grown, f.closed
}

// nextPresent returns the next lines of the place's present state.
func (p *place) nextPresent() (lines [][]byte) {
	if p.header != nil {
		lines, p.header = append(lines, p.header), nil
	}
	for size := 0; len(p.present) > 0 && size < batchBytes; p.present = p.present[1:] {
		line := encode(p.present[0], p.at)
		lines, size = append(lines, line), size+len(line)
	}
	return lines
}

// hurry makes a follower skip the rest of the history if it would take too long to read it, unless it is reading a
// present state.
func (f *Feed) hurry(p *place, at *pace) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(p.present) == 0 && at.slow(f.goneBytes+f.bytes-p.bytes) {
		f.skip(p)
		*at = pace{}
	}
}

// skip moves a place to the history's end, with the present state to be read first. The mutex is held.
func (f *Feed) skip(p *place) {
	*p = place{f.gone + len(f.lines), f.goneBytes + f.bytes, f.headerLine(), f.state.events(), time.Since(f.began)}
}

// state is the present state of the network: the sum of the events so far.
type state struct {
	latest  map[subject]Event
	held    map[int]map[int]Cell
	queries []Query
}

// subject is a kind of event and the number of the peer that it is about; 0 for events about the network.
type subject struct {
	kind string
	n    int
}

func newState() state {
	return state{latest: make(map[subject]Event), held: make(map[int]map[int]Cell)}
}

// take adds an event to the state. It returns the event to write, with only the news in it; false: there is no news.
func (s *state) take(e Event) (Event, bool) {
	about := e.about()
	switch x := e.(type) {
	case Tail, Learned:
		return e, true
	case Held:
		x.Held = s.heldNow(x)
		return x, len(x.Held) > 0
	case Query:
		s.queries = append(s.queries, x)
		if len(s.queries) > 2*keptQueries {
			s.queries = slices.Clone(s.queries[len(s.queries)-keptQueries:])
		}
		return e, true
	case Status:
		e = x.rounded()
	case Links:
		e = x.rounded()
		if len(x.Links) == 0 && s.latest[about] == nil {
			return nil, false
		}
	}
	if reflect.DeepEqual(s.latest[about], e) {
		return nil, false
	}
	s.latest[about] = e
	return e, true
}

// heldNow sets all that a peer holds, and returns the cells that differ from before.
func (s *state) heldNow(all Held) (changed []Cell) {
	old := s.held[all.N]
	now := make(map[int]Cell, len(all.Held))
	for _, c := range all.Held {
		now[c.Of] = c
		if old[c.Of] != c {
			changed = append(changed, c)
		}
	}
	for of := range old {
		if _, still := now[of]; !still {
			changed = append(changed, Cell{Of: of})
		}
	}
	s.held[all.N] = now
	slices.SortFunc(changed, func(a, b Cell) int { return a.Of - b.Of })
	return changed
}

// events returns the events that make up the state. Most of it is what peers hold, which comes last.
func (s *state) events() (out []Event) {
	add := func(kind string, n int) (known bool) {
		e, known := s.latest[subject{kind, n}]
		if known {
			out = append(out, e)
		}
		return known
	}
	peers := 0
	for add("peer", peers) {
		peers++
	}
	for n := range peers {
		for _, kind := range []string{"epoch", "status", "links", "mirror"} {
			add(kind, n)
		}
	}
	for _, q := range s.queries[max(0, len(s.queries)-keptQueries):] {
		out = append(out, q)
	}
	add("phase", 0)
	add("report", 0)
	for n := range peers {
		if row := s.held[n]; len(row) > 0 {
			h := Held{N: n, Held: slices.Collect(maps.Values(row))}
			slices.SortFunc(h.Held, func(a, b Cell) int { return a.Of - b.Of })
			out = append(out, h)
		}
	}
	return out
}
