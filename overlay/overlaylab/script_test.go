package overlaylab

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/estimate"
)

// Script interprets the commands of a transcript against one [Network]. The output of a command is the trace of what it
// caused: the effects of the peers that are watched. Peers without an overlay of their own, whose inputs the script
// makes up, may have any name.
//
//	net [seed=N] [degree=N]              a new, empty network
//	peer P [rate=BIT/S] [memory=BYTES] [slots=(OVERLAP,NEAR,RANDOM)] [max-links=N] [seed=N]
//	    [previous=N until=duration]
//	restart P [as peer]                  P begins anew, without connections, with the collection that it has
//	publish P keys=N [shared=N] [as=N] [lifetime=duration]
//	                                     a collection; the first shared keys are the same for all; as: that of another
//	                                     peer, by number
//	change P N                           the next epoch: N keys of the collection are replaced
//	connect P Q …                        connections from P
//	disconnect P Q …
//	fault P [silent] [liar] [boaster] [gone]
//	    silent: announces and never delivers; liar: spoils deltas; boaster: holds nothing of what it claims;
//	    gone: is not connected
//	origin NAME [keys=N] [epoch=1.N] [seed=NETWORK] [count=N]
//	                                     a summary of nobody's overlay, for inputs; with count: NAME0, NAME1, …
//	watch P … [only=(EFFECT,…)] [count]
//	                                     whose effects are shown from now on, and which; with count: only their number
//	run for=duration
//	input P KIND Q …                     one raw input from Q, of these:
//	    open [outbound]; close; graft; prune; rtt=duration; outcome [hits=N] [misses=N]
//	    hello [up=BIT/S] [origins=N] [neighbour] [full] [records=(NAME,…)] [forged=(NAME,…)]
//	    catalogue [have=(ORIGIN:N,…)] [ask=(ORIGIN:FROM-TO,…)]
//	    parts ORIGIN:FROM-END [spoil=part|next|envelope|record|group] [chain-of=ORIGIN]
//	    answer: all that P asked of Q since the last answer
//	know P [Q …]                         what P holds of others
//	neighbours P                         whom P keeps, and why
//	sent P Q                             bytes sent from P to Q since the last look, and the link's budget since
type Script struct {
	net     *Network
	numbers map[wire.PeerID]int // of all names, for their collections
	origins map[string]Origin
	asked   map[[2]wire.PeerID][]wire.Item
	watched []string
	only    []string
	count   bool
	bytes   map[[2]int]int
	looked  map[[2]int]time.Duration
	lines   []string
	counts  map[string]int
}

// Run interprets one command; it panics on a malformed script, as its author's mistake.
func (s *Script) Run(d *datadriven.TestData) string {
	s.lines, s.counts = nil, map[string]int{}
	commands := map[string]func(*datadriven.TestData){
		"net": s.newNet, "peer": s.peer, "restart": s.restart, "publish": s.publish, "change": s.change, "connect": s.connect, "disconnect": s.disconnect,
		"fault": s.fault, "origin": s.origin, "watch": s.watch, "input": s.input, "know": s.know, "neighbours": s.neighbours, "sent": s.sent,
		"run": func(d *datadriven.TestData) { s.net.Run(s.net.Now + duration(d, "for", 0)) },
	}
	do := commands[d.Cmd]
	if do == nil {
		panic(fmt.Sprintf("unknown command %q", d.Cmd))
	}
	do(d)
	for _, what := range sortedKeys(s.counts) {
		s.lines = append(s.lines, fmt.Sprintf("%s: %d", what, s.counts[what]))
	}
	if len(s.lines) == 0 {
		return "ok\n"
	}
	return strings.Join(s.lines, "\n") + "\n"
}

func (s *Script) newNet(d *datadriven.TestData) {
	n, err := New(nil, uint64(number(d, "seed", 1)))
	must(err)
	n.Degree = number(d, "degree", n.Degree)
	*s = Script{
		net: n, numbers: map[wire.PeerID]int{}, origins: map[string]Origin{}, asked: map[[2]wire.PeerID][]wire.Item{},
		bytes: map[[2]int]int{}, looked: map[[2]int]time.Duration{}, counts: map[string]int{},
	}
	n.Trace = s.trace
	n.Sent = func(_ time.Duration, from, to, bytes int) { s.bytes[[2]int{from, to}] += bytes }
}

func (s *Script) peer(d *datadriven.TestData) {
	id := wire.PeerID(word(d, 0))
	i, err := s.net.Add(id, config(d))
	must(err)
	s.numbers[id] = i
}

func (s *Script) restart(d *datadriven.TestData) { must(s.net.Restart(s.number(d, 0), config(d))) }

func config(d *datadriven.TestData) overlay.Config {
	rate := bits(d, "rate")
	cfg := overlay.Config{Up: rate, Down: rate, Memory: number(d, "memory", 0), MaxLinks: number(d, "max-links", 0)}
	if v := list(d, "slots"); len(v) == 3 {
		cfg.OverlapSlots, cfg.NearSlots, cfg.RandomSlots = atoi(v[0]), atoi(v[1]), atoi(v[2])
	}
	cfg.Seed = Seed(uint32(number(d, "seed", 0))).Tag()
	cfg.Previous, cfg.PreviousUntil = Seed(uint32(number(d, "previous", 0))), duration(d, "until", 0)
	return cfg
}

func (s *Script) publish(d *datadriven.TestData) {
	i := s.number(d, 0)
	s.net.Peers[i].Lifetime = duration(d, "lifetime", s.net.Peers[i].Lifetime)
	n := number(d, "keys", 0)
	s.net.Publish(i, Fingerprints(n, number(d, "shared", 0), uint64(number(d, "as", i))))
}

func (s *Script) change(d *datadriven.TestData) {
	p := s.net.Peers[s.number(d, 0)]
	s.net.Publish(s.number(d, 0), Changed(p.fps, atoi(word(d, 1)), uint64(p.published)))
}

func (s *Script) connect(d *datadriven.TestData) {
	for i := range d.CmdArgs[1:] {
		s.net.Connect(s.number(d, 0), s.number(d, i+1))
	}
}

func (s *Script) disconnect(d *datadriven.TestData) {
	for i := range d.CmdArgs[1:] {
		s.net.Disconnect(s.number(d, 0), s.number(d, i+1))
	}
}

func (s *Script) fault(d *datadriven.TestData) {
	p := s.net.Peers[s.number(d, 0)]
	p.Silent, p.Liar, p.Boaster, p.Gone = d.HasArg("silent"), d.HasArg("liar"), d.HasArg("boaster"), false
	if d.HasArg("gone") {
		s.net.Leave(s.number(d, 0))
	}
}

func (s *Script) origin(d *datadriven.TestData) {
	name := word(d, 0)
	h := summary.Header{Epoch: epoch(strings.Join(list(d, "epoch"), ""))}
	if v := list(d, "seed"); len(v) > 0 {
		h.Seed = summary.Seed{Network: v[0]}.Tag()
	}
	count := number(d, "count", 0)
	for i := range max(1, count) {
		id := name
		if count > 0 {
			id = fmt.Sprint(name, i)
		}
		of, _, _ := strings.Cut(id, "'") // x' is another summary of x
		s.origins[id] = NewOrigin(wire.PeerID(of), Fingerprints(number(d, "keys", 100), 0, uint64(1000+len(s.origins))), h)
	}
}

func (s *Script) watch(d *datadriven.TestData) {
	s.watched, s.only, s.count = list(d, "peers"), list(d, "only"), d.HasArg("count")
	if s.watched == nil {
		for i := range d.CmdArgs {
			if a := d.CmdArgs[i]; len(a.Vals) == 0 && a.Key != "count" {
				s.watched = append(s.watched, a.Key)
			}
		}
	}
}

func (s *Script) know(d *datadriven.TestData) {
	o := s.net.Peers[s.number(d, 0)].Overlay
	for _, at := range o.Directory() {
		if len(d.CmdArgs) > 1 && !slices.ContainsFunc(d.CmdArgs[1:], func(a datadriven.CmdArg) bool { return a.Key == string(at.Peer) }) {
			continue
		}
		held, _ := o.Held(at.Peer)
		s.lines = append(s.lines, fmt.Sprintf("%s %s: %d of %d parts, %d bytes, rate %.2g", at.Peer, held.Header().Epoch, at.Parts, held.Plan().Parts(), at.Bytes, at.Rate))
	}
	s.lines = append(s.lines, fmt.Sprintf("origins %d, expected false matches %.2g", o.Origins(), o.FalseMatches()))
}

func (s *Script) neighbours(d *datadriven.TestData) {
	for _, nb := range s.net.Peers[s.number(d, 0)].Overlay.Neighbours() {
		line := fmt.Sprintf("%s %s", nb.Peer, nb.Kind)
		if nb.Overlap != (estimate.Interval{}) {
			line += fmt.Sprintf(", holds %.3f (%.3f to %.3f) of ours", nb.Overlap.Value, nb.Overlap.Low, nb.Overlap.High)
		}
		s.lines = append(s.lines, line)
	}
}

func (s *Script) sent(d *datadriven.TestData) {
	k := [2]int{s.number(d, 0), s.number(d, 1)}
	span := s.net.Now - s.looked[k]
	rate := exchange.LinkRate(s.net.Peers[k[0]].up, s.net.Peers[k[1]].up, 1.0/3)
	s.lines = append(s.lines, fmt.Sprintf("%d bytes in %v, at most %.0f", s.bytes[k], span, exchange.Burst(rate)+float64(rate*span.Seconds())))
	s.bytes[k], s.looked[k] = 0, s.net.Now
}

// trace shows an effect of a watched peer.
func (s *Script) trace(now time.Duration, peer int, e event.Effect) {
	p := s.net.Peers[peer].ID
	if c, ok := e.(event.SendCatalogue); ok {
		k := [2]wire.PeerID{p, c.To}
		for _, it := range c.Items {
			if it.Want > it.Have {
				s.asked[k] = append(s.asked[k], it)
			}
		}
	}
	kind := strings.TrimPrefix(fmt.Sprintf("%T", e), "event.")
	if !slices.Contains(s.watched, string(p)) || kind == "Wake" || s.only != nil && !slices.Contains(s.only, kind) {
		return
	}
	if s.count {
		s.counts[fmt.Sprintf("%s > %s", p, kind)]++
		return
	}
	s.lines = append(s.lines, fmt.Sprintf("%-8s %s > %s %s", now, p, kind, s.describe(e)))
}

func (s *Script) number(d *datadriven.TestData, i int) int {
	n, ok := s.net.index[wire.PeerID(word(d, i))]
	if !ok {
		panic(fmt.Sprintf("no peer %q", word(d, i)))
	}
	return n
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func word(d *datadriven.TestData, i int) string { return d.CmdArgs[i].Key }

func list(d *datadriven.TestData, key string) []string {
	for _, a := range d.CmdArgs {
		if a.Key == key {
			return a.Vals
		}
	}
	return nil
}

func atoi(text string) int {
	n, err := strconv.Atoi(text)
	must(err)
	return n
}

func number(d *datadriven.TestData, key string, otherwise int) int {
	if v := list(d, key); len(v) > 0 {
		return atoi(v[0])
	}
	return otherwise
}

func bits(d *datadriven.TestData, key string) uint64 {
	v := list(d, key)
	if len(v) == 0 {
		return 0
	}
	for unit, factor := range map[string]uint64{"kbit": 1e3, "mbit": 1e6} {
		if n, ok := strings.CutSuffix(v[0], unit); ok {
			return uint64(atoi(n)) * factor
		}
	}
	panic(fmt.Sprintf("no rate: %q", v[0]))
}

func duration(d *datadriven.TestData, key string, otherwise time.Duration) time.Duration {
	if v := list(d, key); len(v) > 0 {
		t, err := time.ParseDuration(v[0])
		must(err)
		return t
	}
	return otherwise
}

// epoch reads "generation.sequence"; "" is none.
func epoch(text string) (e summary.Epoch) {
	if text != "" {
		_, err := fmt.Sscanf(text, "%d.%d", &e.Generation, &e.Sequence)
		must(err)
	}
	return e
}
