package testnet

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// step is the progress of a part. Parts wait for each other before they go on.
type step int

const (
	arrived     step = iota
	hostsListen      // its peers can be reached
	meshFormed       // its peers have links, or the time for that has passed
	warmedUp         // the time for summaries to spread has passed
	queriesOver      // its queries have ended
	reported         // the others can fetch its report
	merged           // part 0 has merged the reports of all parts; no other part gets here
)

var steps = []string{"arrived", "hosts listen", "mesh formed", "warmed up", "queries over", "reported", "merged"}

// MarshalText names the step.
func (s step) MarshalText() ([]byte, error) { return []byte(steps[s]), nil }

// UnmarshalText reads a name.
func (s *step) UnmarshalText(b []byte) error {
	i := slices.Index(steps, string(b))
	if i < 0 {
		return fmt.Errorf("unknown step %q", b)
	}
	*s = step(i)
	return nil
}

// Times and limits of parts.
const (
	partsCome  = 5 * time.Minute        // longest wait for a part's address, and for its first answer
	partsTell  = 2 * time.Minute        // longest wait for all reports, and for part 0 to merge them
	partsGo    = 10 * time.Second       // longest wait until all parts have seen that they may go
	partsLook  = 100 * time.Millisecond // time between two requests to a part, with fewer than fewParts
	fewParts   = 8
	maxReport  = 64 << 20         // largest report, in bytes
	lookWithin = 20 * time.Second // longest wait for an answer of a part that may be busy
	partSlow   = time.Minute      // longest time for which requests to a part may time out
)

// partLost is the longest time for which a part may be gone: nothing listens, or its host is gone.
var partLost = 10 * time.Second // less in tests

// partState is a part's answer to GET /part.
type partState struct {
	Run    string          `json:"run"` // hash of the options and data of the run, the same in all parts
	Part   int             `json:"part"`
	Start  uint64          `json:"start"` // drawn when the part started: another number means another process
	Step   step            `json:"phase"`
	Ended  string          `json:"ended,omitempty"`  // why the part ended before its end
	Report json.RawMessage `json:"report,omitempty"` // report of the part, from the step `reported` on
}

// parts exchanges the progress of this part with all others. A nil pointer stands for a run without other parts: it
// never waits.
type parts struct {
	part      Part
	run       string // hash of the options and the data
	classes   int    // number of link classes
	transport Transport
	places    []place
	addresses []netip.Addr

	server *http.Server
	client *http.Client
	wg     sync.WaitGroup
	stop   context.CancelFunc      // ends the requests to other parts
	end    context.CancelCauseFunc // ends the run

	mu      sync.Mutex
	own     partState
	answer  []byte        // own state as JSON, as the others get it
	others  []partState   // last states of the other parts, by part
	lost    []bool        // parts that give no answer any more
	changed chan struct{} // closed, and made again, when others or lost change
}

// join waits until the addresses of all parts are known. Then it serves this part's progress and asks for the others'.
// The context that it returns ends when another part is lost or has ended early.
func (r *run) join(ctx context.Context) (context.Context, error) {
	if r.cfg.Part == (Part{}) {
		return ctx, nil
	}
	p := &parts{part: r.cfg.Part, transport: r.cfg.Transport, classes: len(r.cfg.Links), changed: make(chan struct{})}
	var err error
	if p.places, err = p.part.places(r.data.Peers()); err != nil {
		return ctx, err
	}
	p.addresses = make([]netip.Addr, p.part.Of)
	for i := range p.places {
		if p.addresses[i], err = resolve(ctx, p.places[i].host); err != nil {
			return ctx, err
		}
	}
	own := netip.AddrPortFrom(p.addresses[p.part.I], uint16(p.places[p.part.I].port))
	listener, err := net.Listen("tcp", own.String())
	if err != nil {
		return ctx, fmt.Errorf("testnet: part %s: %w", p.part, err)
	}
	p.run = r.id()
	p.own = partState{Run: p.run, Part: p.part.I, Start: rand.Uint64()}
	p.others, p.lost = make([]partState, p.part.Of), make([]bool, p.part.Of)
	p.say(arrived)
	p.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}, Timeout: lookWithin}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /part", p.tell)
	p.server = &http.Server{Handler: mux, ReadHeaderTimeout: lookWithin}
	p.wg.Go(func() { _ = p.server.Serve(listener) })
	ctx, p.end = context.WithCancelCause(ctx)
	var looking context.Context
	looking, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	for i := range p.others {
		if i != p.part.I {
			p.wg.Go(func() { p.look(looking, i) })
		}
	}
	r.parts = p
	return ctx, nil
}

// id returns a hash of all that the parts of one run have in common.
func (r *run) id() string {
	c := r.cfg
	c.Part.I, c.Progress, c.Hold = 0, nil, nil
	h := sha256.New()
	fmt.Fprintf(h, "%+v %d %d %q %v", c, r.data.Keys(), r.data.Holdings(), r.plan.Names, r.plan.Class)
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// say notes that this part has reached a step, for the others to see.
func (p *parts) say(s step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.own.Step = s
	p.answer, _ = json.Marshal(p.own) // strings, and earlier JSON
}

// tell answers with this part's progress.
func (p *parts) tell(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	b := p.answer
	p.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b)
}

// look asks another part for its progress again and again, until the part is over or lost.
func (p *parts) look(ctx context.Context, i int) {
	seen, came, start := time.Now(), false, uint64(0)
	for {
		s, err := p.ask(ctx, i)
		if ctx.Err() != nil {
			return
		}
		if err == nil && came && s.Start != start {
			err = errRestarted
		}
		switch {
		case err == nil:
			seen, came, start = time.Now(), true, s.Start
			p.note(i, s)
		case p.over(i):
			p.gone(i)
			return
		case errors.Is(err, errOtherRun), errors.Is(err, errRestarted), time.Since(seen) > max(2*p.every(), patience(came, err)):
			p.gone(i)
			p.end(fmt.Errorf("part %d is lost: %v", i, err)) //nolint:errorlint // a timeout of its is none of the run's
			return
		}
		if sleep(ctx, p.every()) != nil {
			return
		}
	}
}

// every returns the time between two requests to a part. It grows with the number of parts, so that a part gets some 80
// requests a second at most.
func (p *parts) every() time.Duration { return partsLook * time.Duration(1+p.part.Of/fewParts) }

// patience returns the time without an answer after which a part is lost. came tells whether it has ever answered.
func patience(came bool, err error) time.Duration {
	var slow net.Error
	switch {
	case !came:
		return partsCome
	case errors.As(err, &slow) && slow.Timeout():
		return partSlow
	}
	return partLost
}

// errOtherRun is matched when a part has other options, or other data.
var errOtherRun = errors.New("it has other options or other data")

// errRestarted is matched when a part was there before in another process: its earlier work is gone.
var errRestarted = errors.New("it was started again")

// ask asks a part for its progress.
func (p *parts) ask(ctx context.Context, i int) (s partState, err error) {
	url := "http://" + netip.AddrPortFrom(p.addresses[i], uint16(p.places[i].port)).String() + "/part"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return s, err
	}
	answer, err := p.client.Do(request)
	if err != nil {
		return s, err
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(io.LimitReader(answer.Body, maxReport+1))
	if err != nil {
		return s, err
	}
	return p.parse(i, b)
}

// parse reads a part's answer.
func (p *parts) parse(i int, b []byte) (s partState, err error) {
	if len(b) > maxReport {
		return s, fmt.Errorf("it says more than %d bytes", maxReport)
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return s, err
	}
	if s.Run != p.run {
		return s, errOtherRun
	}
	if s.Part != i {
		return s, fmt.Errorf("it says that it is part %d", s.Part)
	}
	if s.Step >= reported {
		_, err = p.parseReport(s.Report)
	}
	return s, err
}

// parseReport reads the report of another part.
func (p *parts) parseReport(b []byte) (*partial, error) {
	var r partial
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("its report: %w", err)
	}
	if len(r.Classes) != p.classes || !slices.Contains(phases, r.Phase) {
		return nil, fmt.Errorf("its report has %d classes, phase %q", len(r.Classes), r.Phase)
	}
	return &r, nil
}

// note notes the progress of another part.
func (p *parts) note(i int, s partState) {
	p.mu.Lock()
	p.others[i] = s
	p.tellAll()
	p.mu.Unlock()
	if s.Ended != "" {
		p.end(fmt.Errorf("part %d ended: %s", i, s.Ended))
	}
}

// gone notes that another part has ended or is lost.
func (p *parts) gone(i int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost[i] = true
	p.tellAll()
}

// over reports whether another part may go: it has sent everything.
func (p *parts) over(i int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := reported
	if i == 0 {
		last = merged
	}
	return p.others[i].Step >= last
}

// tellAll wakes all goroutines that wait for a change of other parts. The mutex is held.
func (p *parts) tellAll() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// reach notes that this part has reached a step, and waits until all others have.
func (p *parts) reach(ctx context.Context, s step) error {
	if p == nil {
		return ctx.Err()
	}
	p.say(s)
	return p.until(ctx, func(i int) bool { return p.others[i].Step >= s })
}

// until waits until the function of returns true for all other parts. It calls of with the mutex held.
func (p *parts) until(ctx context.Context, of func(i int) bool) error {
	for {
		p.mu.Lock()
		changed, all := p.changed, true
		for i := range p.others {
			all = all && (i == p.part.I || of(i))
		}
		p.mu.Unlock()
		if all {
			return ctx.Err()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// told returns the report of the run. Part 0 merges the reports of all parts. The others report on their own peers,
// after part 0 has merged the reports or is lost, or partsTell has passed.
func (r *run) told(own *partial) *Report {
	p := r.parts
	if p == nil {
		return r.report(own)
	}
	p.mu.Lock()
	p.own.Report, _ = json.Marshal(own) // numbers and strings
	p.own.Ended = own.Interrupted
	p.mu.Unlock()
	p.say(reported)
	if p.part.I == 0 {
		return r.mergeParts(own)
	}
	ctx, cancel := context.WithTimeout(context.Background(), partsTell)
	defer cancel()
	_ = p.until(ctx, func(i int) bool { return i != 0 || p.lost[0] || p.others[0].Step == merged })
	rep := r.report(own)
	rep.Part, rep.Merged = p.part.String(), p.over(0)
	return rep
}

// mergeParts returns the report of all parts, after the others had time to see that it has merged theirs.
func (r *run) mergeParts(all *partial) *Report {
	p := r.parts
	ctx, cancel := context.WithTimeout(context.Background(), partsTell)
	defer cancel()
	_ = p.until(ctx, func(i int) bool { return p.lost[i] || p.others[i].Step >= reported })
	p.mu.Lock()
	for i, s := range p.others {
		switch {
		case i == 0:
		case s.Step >= reported:
			other, err := p.parseReport(s.Report)
			if err != nil {
				panic(err) // parse has read it
			}
			all.merge(other)
		default:
			lost := fmt.Sprintf("part %d is lost", i)
			all.Interrupted = cmp.Or(all.Interrupted, lost)
			all.Notes = append(all.Notes, lost+": its peers and their queries are left out")
		}
	}
	p.mu.Unlock()
	rep := r.report(all)
	rep.Parts = p.part.Of
	p.say(merged)
	ctx, cancel = context.WithTimeout(context.Background(), partsGo+2*p.every())
	defer cancel()
	_ = p.until(ctx, func(i int) bool { return p.lost[i] })
	return rep
}

// close ends the server and the requests that join has started.
func (p *parts) close() {
	if p == nil {
		return
	}
	p.stop()
	p.end(nil)
	_ = p.server.Close()
	p.client.CloseIdleConnections()
	p.wg.Wait()
}
