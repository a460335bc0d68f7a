package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The fleet: how many daemons, what they hold, and how often each changes a key and looks for one.
const (
	size        = 20
	names       = 400 // of keys that come and go
	held        = 20  // of these keys that each daemon holds, on average
	own         = 200 // further keys of each daemon, which stay
	changeEvery = 700 * time.Millisecond
	findEvery   = 500 * time.Millisecond
	recent      = 40 // changes whose keys are looked for most
)

// fleet is daemons, and the history of what was done to them.
type fleet struct {
	t     *testing.T
	began time.Time
	peers [size]*peer

	mu      sync.Mutex // guards what follows
	history *History
	finds   []Find
	lately  []string // keys of the last changes
	faults  int      // finds that failed, as of daemons that were killed meanwhile
	parted  bool     // peers of even numbers are apart from the others
	diary   []entry
}

// entry is what was done to a daemon, or to the network between all.
type entry struct {
	at    time.Duration
	peer  int    // or everybody
	start string // the program that has been started; "": another thing
	what  string
}

const everybody = -1

// note writes down what was done. The caller holds mu.
func (f *fleet) note(peer int, start, what string) {
	f.diary = append(f.diary, entry{f.now(), peer, start, what})
}

// peer is a daemon of the fleet.
type peer struct {
	daemon
	f      *fleet
	i      int
	id     string
	client *http.Client

	mu    sync.RWMutex // read while a command runs; written while the daemon starts or ends
	alive bool
	holds map[string]bool // of names
}

func (f *fleet) now() time.Duration { return time.Since(f.began) }

// newFleet makes the folders of daemons by the older program: it does not read settings that only a newer one has. place
// says where each runs: what its command line begins with, and its address.
func newFleet(t *testing.T, program string, place func(i int) (prefix []string, address string)) *fleet {
	f := &fleet{t: t, began: time.Now(), history: NewHistory(size)}
	base := t.TempDir()
	for i := range f.peers {
		p := &peer{f: f, i: i, holds: make(map[string]bool)}
		p.t, p.repo = t, filepath.Join(base, fmt.Sprint(i))
		p.client = &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(p.repo, "control.sock"))
			},
		}}
		var address string
		p.prefix, address = place(i)
		p.env = append(append(os.Environ(), alone...), "VENN_LIMITS_CACHE=8388608",
			fmt.Sprintf("VENN_ADDRESSES_LISTEN=/ip4/%s/tcp/%d,/ip4/%[1]s/udp/%d/quic-v1", address, 4200+i, 4200+i), "GOMAXPROCS=2")
		var made struct{ ID string }
		if out := p.run(program, "init", "--json"); json.Unmarshal([]byte(out), &made) != nil {
			t.Fatalf("init says %s", out)
		}
		p.id = made.ID
		if i >= 2 { // the first two are where all begin
			p.env = append(p.env, "VENN_DISCOVERY_BOOTSTRAP="+f.peers[0].address()+","+f.peers[1].address())
		}
		f.peers[i] = p
	}
	return f
}

// address is where others begin.
func (p *peer) address() string {
	for _, e := range p.env {
		if list, ok := strings.CutPrefix(e, "VENN_ADDRESSES_LISTEN="); ok {
			first, _, _ := strings.Cut(list, ",")
			return first + "/p2p/" + p.id
		}
	}
	panic("fleet: a peer without address")
}

// start starts the daemon, with further variables of its environment, and waits until it serves.
func (p *peer) start(program string, env ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	from := p.f.now()
	p.launch(program, env...)
	p.alive = true
	p.f.reaches(p, true, from, p.f.now())
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	p.f.note(p.i, filepath.Base(program), "starts as "+filepath.Base(program))
}

// end ends the daemon: by SIGTERM when all commands have been answered, by SIGKILL in their middle.
func (p *peer) end(signal syscall.Signal) {
	from := p.f.now()
	if signal == syscall.SIGKILL && p.cmd != nil {
		_ = p.cmd.Process.Kill()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.alive {
		return
	}
	if signal != syscall.SIGKILL {
		from = p.f.now()
		_ = p.cmd.Process.Signal(signal)
	}
	_ = p.cmd.Wait()
	p.alive = false
	p.client.CloseIdleConnections()
	p.f.reaches(p, false, from, p.f.now())
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	p.f.note(p.i, "", signal.String())
}

// reaches writes down that a daemon runs, or no longer.
func (f *fleet) reaches(p *peer, to bool, call, ret time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, q := range f.peers {
		if apart := f.parted && (p.i+q.i)%2 > 0; q != p && (!to || q.alive && !apart) {
			f.pair(p, q, to, call, ret)
		}
	}
}

// pair writes down that two daemons reach each other, or no longer.
func (f *fleet) pair(p, q *peer, to bool, call, ret time.Duration) {
	f.history.Write(Fact{What: Reaches, A: p.i, B: q.i}, to, call, ret)
	if !to {
		f.history.Write(Fact{What: Links, A: p.i, B: q.i}, false, call, ret)
		f.history.Write(Fact{What: Links, A: q.i, B: p.i}, false, call, ret)
	}
}

// do sends a request, and calls line with every line of the answer.
func (p *peer) do(method, path string, query url.Values, body string, line func([]byte) error) error {
	u := url.URL{Scheme: "http", Host: "venn", Path: path, RawQuery: query.Encode()}
	req, err := http.NewRequest(method, u.String(), strings.NewReader(body))
	if err != nil {
		return err
	}
	if body != "" {
		req.Header.Set("Content-Type", "text/plain")
	}
	answer, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	all, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", answer.Status, all)
	}
	for l := range bytes.Lines(all) {
		if err := line(l); err != nil {
			return err
		}
	}
	return nil
}

func ignore([]byte) error { return nil }

// change adds or removes keys.
func (p *peer) change(add bool, keys ...string) {
	path := "/api/v1/keys/remove"
	if add {
		path = "/api/v1/keys/add"
	}
	from := p.f.now()
	err := p.do(http.MethodPost, path, nil, strings.Join(keys, "\n")+"\n", ignore)
	to := p.f.now()
	if err != nil {
		to = Never
	}
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	for _, k := range keys {
		p.f.history.Write(Fact{What: Holds, A: p.i, Key: k}, add, from, to)
		p.holds[k] = add
		p.f.lately = append(p.f.lately, k)
	}
	p.f.lately = p.f.lately[max(0, len(p.f.lately)-recent):]
}

// find looks for a key, and writes down the answer.
func (p *peer) find(key string, all bool) {
	f := Find{Asker: p.i, Key: key, All: all, From: p.f.now()}
	query := url.Values{"key": {key}}
	if all {
		query.Set("all", "true")
	}
	err := p.do(http.MethodGet, "/api/v1/find", query, "", func(line []byte) error {
		var l struct{ Peer, End string }
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		if i := p.f.index(l.Peer); i >= 0 {
			f.Named = append(f.Named, i)
		}
		if l.End != "" {
			f.End = slices.Clone(line)
		}
		return nil
	})
	f.To = p.f.now()
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	if err != nil {
		p.f.faults++
		return
	}
	p.f.finds = append(p.f.finds, f)
}

func (f *fleet) index(id string) int {
	for _, p := range f.peers {
		if p.id == id {
			return p.i
		}
	}
	return -1
}

// look writes down whom the daemon is linked with.
func (p *peer) look() (linked int) {
	from := p.f.now()
	var peers []struct {
		ID     string
		Linked bool
	}
	if err := p.do(http.MethodGet, "/api/v1/peers", nil, "", func(line []byte) error {
		if line[0] == '[' {
			return json.Unmarshal(line, &peers)
		}
		var one struct {
			ID     string
			Linked bool
		}
		err := json.Unmarshal(line, &one)
		peers = append(peers, one)
		return err
	}); err != nil {
		return 0
	}
	to := p.f.now()
	is := make(map[int]bool)
	for _, q := range peers {
		if i := p.f.index(q.ID); i >= 0 && q.Linked {
			is[i] = true
			linked++
		}
	}
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	for i := range size {
		if i != p.i {
			p.f.history.Saw(Fact{What: Links, A: p.i, B: i}, is[i], from, to)
		}
	}
	return linked
}

// refused are the offences that the daemon has counted, by what they were.
func (p *peer) refused() map[string]uint64 {
	var s struct{ Refused map[string]uint64 }
	if err := p.do(http.MethodGet, "/api/v1/status", nil, "", func(line []byte) error { return json.Unmarshal(line, &s) }); err != nil {
		p.f.t.Errorf("status of daemon %d: %v", p.i, err)
	}
	return s.Refused
}

// blames fails the test if the daemon, which runs, has found an offence.
func (p *peer) blames() {
	for what, n := range p.refused() {
		if n > 0 {
			p.f.t.Errorf("daemon %d blames others %d times: %s", p.i, n, what)
		}
	}
	for line := range strings.Lines(p.log()) {
		if strings.Contains(line, "not served") || strings.Contains(line, "panic") {
			p.f.t.Errorf("daemon %d says: %s", p.i, line)
		}
	}
}

// fill gives each daemon its first keys.
func (f *fleet) fill() {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, p := range f.peers {
		var keys []string
		for i := range own {
			keys = append(keys, fmt.Sprintf("own-%d-%d", p.i, i))
		}
		for range held {
			keys = append(keys, fmt.Sprintf("key-%d", rng.IntN(names)))
		}
		p.change(true, keys...)
	}
}

// use has every daemon that runs change keys and find keys until the end of the context.
func (f *fleet) use(ctx context.Context) (wait func()) {
	var wg sync.WaitGroup
	each := func(seed uint64, every time.Duration, do func(p *peer, rng *rand.Rand)) {
		for _, p := range f.peers {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(seed, uint64(p.i)))
				for ctx.Err() == nil {
					time.Sleep(time.Duration((0.5 + rng.Float64()) * float64(every)))
					p.mu.RLock()
					if p.alive {
						do(p, rng)
					}
					p.mu.RUnlock()
				}
			})
		}
	}
	each(1, changeEvery, func(p *peer, rng *rand.Rand) {
		key := fmt.Sprintf("key-%d", rng.IntN(names))
		if len(p.some(true)) > held/2 && rng.IntN(2) == 0 {
			mine := p.some(true)
			key = mine[rng.IntN(len(mine))]
		}
		p.change(!p.has(key), key)
	})
	each(2, findEvery, func(p *peer, rng *rand.Rand) { p.find(f.wanted(rng), rng.IntN(2) == 0) })
	each(3, time.Second, func(p *peer, _ *rand.Rand) { p.look() })
	return wg.Wait
}

func (p *peer) has(key string) bool {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	return p.holds[key]
}

// some lists the keys that come and go and that the daemon holds, in order.
func (p *peer) some(is bool) (keys []string) {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	for i := range names {
		if k := fmt.Sprintf("key-%d", i); p.holds[k] == is {
			keys = append(keys, k)
		}
	}
	return keys
}

// wanted draws a key to look for: one that has changed lately, one that comes and goes, or one that stays.
func (f *fleet) wanted(rng *rand.Rand) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch n := rng.IntN(4); {
	case n < 2 && len(f.lately) > 0:
		return f.lately[rng.IntN(len(f.lately))]
	case n < 3:
		return fmt.Sprintf("key-%d", rng.IntN(names))
	}
	return fmt.Sprintf("own-%d-%d", rng.IntN(size), rng.IntN(own))
}

// meet waits until all daemons are linked with enough others.
func (f *fleet) meet() {
	for end := time.Now().Add(time.Minute); ; time.Sleep(500 * time.Millisecond) {
		least := size
		for _, p := range f.peers {
			least = min(least, p.look())
		}
		if least >= size-1 {
			return
		}
		if time.Now().After(end) {
			f.t.Logf("the daemon with the fewest links has %d of %d", least, size-1)
			return
		}
	}
}

// verdict judges all finds.
func (f *fleet) verdict(b Bounds) Verdict {
	v := f.history.Verdict(b, f.finds)
	f.t.Logf("%v\n%d finds failed, of daemons that ended meanwhile", v, f.faults)
	for _, l := range v.Violations {
		f.t.Log(l, f.circumstances(l))
	}
	return v
}

// circumstances says, of the asker and the peer that an answer names or misses, which program each runs, for how long,
// and what happened to either in half a minute before the answer.
func (f *fleet) circumstances(l Late) string {
	var program [size]string
	var since [size]time.Duration
	var lately []string
	for _, e := range f.diary {
		if e.at > l.To {
			break
		}
		if e.start != "" {
			program[e.peer], since[e.peer] = e.start, e.at
		}
		if before := l.From - e.at; before < 30*time.Second && (e.peer == everybody || e.peer == l.Asker || e.peer == l.Peer) {
			who := "network"
			if e.peer != everybody {
				who = fmt.Sprint("peer ", e.peer)
			}
			lately = append(lately, fmt.Sprintf("%s %s %.1f s before", who, e.what, before.Seconds()))
		}
	}
	var end struct {
		End   string
		Asked []struct{ Peer, Why, Result string }
	}
	_ = json.Unmarshal(l.End, &end) // of our own daemon
	what := fmt.Sprintf("%d were asked, not this one; %s", len(end.Asked), end.End)
	for _, a := range end.Asked {
		if a.Peer == f.peers[l.Peer].id {
			what = fmt.Sprintf("%s, %s, of %d asked; %s", a.Why, a.Result, len(end.Asked), end.End)
		}
	}
	return fmt.Sprintf("| %s | all %v, %d named, took %.3f s | asker %s, up %.1f s; peer %s, up %.1f s | %s", what, l.All, len(l.Find.Named), (l.To - l.From).Seconds(),
		program[l.Asker], (l.From - since[l.Asker]).Seconds(), program[l.Peer], (l.From - since[l.Peer]).Seconds(), strings.Join(lately, ", "))
}

// binary returns the program that a variable names; without, the test is skipped.
func binary(t *testing.T, variable string) string {
	t.Helper()
	name := os.Getenv(variable)
	if name == "" {
		t.Skipf("runs twenty daemons for minutes: .ci/fleet sets %s", variable)
	}
	if _, err := os.Stat(name); err != nil {
		t.Fatal(errors.Join(fmt.Errorf("%s names no program", variable), err))
	}
	return name
}
