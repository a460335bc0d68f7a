package routinglab

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/routing"
)

// Script interprets the commands of a transcript against one [Net]. The output of a command is the trace of what it
// caused: "<" before inputs, ">" before effects.
//
//	net [seed=N] [rtt=20ms]               a new, empty net
//	peer P [holds=(k,…)] [links=(P,…)] [budget-any=N] [hops=N] [max-queries=N] [incomplete]
//	knows P [Q=rate …] [rest=rate]        what P holds of others; rest: of all others that exist
//	fault P [down] [mute] [up] [claims=(k,…)] [forgets=(k,…)]
//	start P ID any|all KEY [want=N] [budget=N] [for=duration]
//	run [for=duration]                    let things happen; without for, until nothing is left to happen
//	input P KIND …                        one raw input, of these:
//	    confirmed ID Q holds|lacks; failed ID Q; named ID Q [peers=(…)]; ask-failed ID Q; cancel ID; tick
//	    returned ID Q [peers=(…)] [messages=N] [final]
//	    asked NUMBER Q candidates|search any|all KEY [origin=Q] [nonce=N] [budget=N] [want=N] [hops=N] [for=duration]
//	explain P                             whom P's last query asked, why, and what came back
type Script struct {
	net   *Net
	lines []string
}

// Run interprets one command; it panics on a malformed script, as its author's mistake.
func (s *Script) Run(d *datadriven.TestData) string {
	s.lines = nil
	if d.Cmd == "net" {
		s.newNet(d)
		return "ok\n"
	}
	switch d.Cmd {
	case "peer":
		s.peer(d)
	case "knows":
		s.knows(d)
	case "fault":
		s.fault(d)
	case "start":
		s.start(d)
	case "run":
		if wait := duration(d, "for", 0); wait > 0 {
			s.net.Run(s.net.Now + wait)
		} else {
			s.net.RunAll()
		}
	case "input":
		s.net.Step(s.node(d, 0).ID, s.input(d))
	case "explain":
		s.explain(d)
	default:
		panic(fmt.Sprintf("unknown command %q", d.Cmd))
	}
	if len(s.lines) == 0 {
		return "ok\n"
	}
	return strings.Join(s.lines, "\n") + "\n"
}

func (s *Script) newNet(d *datadriven.TestData) {
	s.net = NewNet(uint64(number(d, "seed", 1)), routing.Config{})
	s.net.RTT = duration(d, "rtt", s.net.RTT)
	s.net.Trace = func(line string) { s.lines = append(s.lines, line) }
}

func (s *Script) peer(d *datadriven.TestData) {
	cfg := routing.Config{
		BudgetAny: number(d, "budget-any", 0), Hops: number(d, "hops", 0),
		MaxQueries: number(d, "max-queries", 0),
	}
	if d.HasArg("incomplete") {
		cfg.Incomplete = func() bool { return true }
	}
	n := s.net.add(wire.PeerID(word(d, 0)), cfg)
	for _, k := range list(d, "holds") {
		n.Holds[k] = true
	}
	for _, p := range list(d, "links") {
		n.Links = append(n.Links, wire.PeerID(p))
	}
	slices.Sort(n.Links)
}

func (s *Script) knows(d *datadriven.TestData) {
	n := s.node(d, 0)
	for _, a := range d.CmdArgs[1:] {
		rate, err := strconv.ParseFloat(a.Vals[0], 64)
		if err != nil {
			panic(err)
		}
		if a.Key != "rest" {
			n.Knows[wire.PeerID(a.Key)] = rate
			continue
		}
		for p := range s.net.nodes {
			if _, ok := n.Knows[p]; !ok && p != n.ID {
				n.Knows[p] = rate
			}
		}
	}
}

func (s *Script) fault(d *datadriven.TestData) {
	n := s.node(d, 0)
	switch {
	case d.HasArg("down"):
		n.Down = true
	case d.HasArg("mute"):
		n.Mute = true
	case d.HasArg("up"):
		n.Down, n.Mute = false, false
	}
	for _, k := range list(d, "claims") {
		n.Claims[k] = true
	}
	for _, k := range list(d, "forgets") {
		delete(n.Holds, k)
		n.Claims[k] = true
	}
}

func (s *Script) start(d *datadriven.TestData) {
	q := routing.Query{
		ID: id(d, 1), Mode: mode(d, 2), Key: []byte(word(d, 3)), Want: number(d, "want", 0), Budget: number(d, "budget", 0),
	}
	if wait := duration(d, "for", 0); wait > 0 {
		q.Deadline = s.net.Now + wait
	}
	s.net.Start(s.node(d, 0).ID, q)
}

func (s *Script) input(d *datadriven.TestData) event.Input {
	kind := word(d, 1)
	switch kind {
	case "tick":
		return event.Tick{}
	case "cancel":
		return routing.Cancel{ID: id(d, 2)}
	case "asked":
		return s.asked(d)
	}
	q, p := id(d, 2), wire.PeerID(word(d, 3))
	switch kind {
	case "confirmed":
		return Answered(q, p, wire.HaveRequest{}, wire.HaveAnswer{word(d, 4) == "holds"})
	case "failed":
		return Answered(q, p, wire.HaveRequest{}, nil)
	case "named":
		return Answered(q, p, wire.Query{}, wire.Answer{Records: records(d)})
	case "ask-failed":
		return Answered(q, p, wire.Query{}, nil)
	case "returned":
		return Answered(q, p, wire.Query{Kind: wire.Search}, wire.Answer{Records: records(d), Messages: number(d, "messages", 0), Final: d.HasArg("final")})
	}
	panic(fmt.Sprintf("unknown input %q", kind))
}

// asked makes a request with a number of the script's own, out of the net's range, so that answers only show in the
// trace.
func (s *Script) asked(d *datadriven.TestData) event.Input {
	q := wire.Query{
		Mode: mode(d, 5), Key: []byte(word(d, 6)), Nonce: uint64(number(d, "nonce", 1)), Origin: wire.PeerID(strings.Join(list(d, "origin"), "")),
		Want: number(d, "want", 1), Budget: number(d, "budget", 20), Hops: number(d, "hops", 3), Within: duration(d, "for", 10*time.Second),
	}
	if word(d, 4) == "search" {
		q.Kind = wire.Search
	}
	return event.Asked{Request: uint64(id(d, 2)), From: wire.PeerID(word(d, 3)), Question: q}
}

func (s *Script) explain(d *datadriven.TestData) {
	done := s.node(d, 0).Done
	for _, r := range done[len(done)-1].Stats.Explain {
		s.lines = append(s.lines, r.String())
	}
}

func (s *Script) node(d *datadriven.TestData, i int) *Node {
	n := s.net.nodes[wire.PeerID(word(d, i))]
	if n == nil {
		panic(fmt.Sprintf("no peer %q", word(d, i)))
	}
	return n
}

func word(d *datadriven.TestData, i int) string { return d.CmdArgs[i].Key }

func id(d *datadriven.TestData, i int) routing.QueryID {
	n, err := strconv.ParseUint(word(d, i), 0, 64)
	if err != nil {
		panic(err)
	}
	return routing.QueryID(n)
}

func mode(d *datadriven.TestData, i int) wire.Mode {
	if word(d, i) == "all" {
		return wire.All
	}
	return wire.Any
}

func list(d *datadriven.TestData, key string) []string {
	for _, a := range d.CmdArgs {
		if a.Key == key {
			return a.Vals
		}
	}
	return nil
}

func number(d *datadriven.TestData, key string, otherwise int) int {
	if v := list(d, key); len(v) > 0 {
		n, err := strconv.Atoi(v[0])
		if err != nil {
			panic(err)
		}
		return n
	}
	return otherwise
}

func duration(d *datadriven.TestData, key string, otherwise time.Duration) time.Duration {
	if v := list(d, key); len(v) > 0 {
		t, err := time.ParseDuration(v[0])
		if err != nil {
			panic(err)
		}
		return t
	}
	return otherwise
}

func records(d *datadriven.TestData) []wire.Record {
	var out []wire.Record
	for _, p := range list(d, "peers") {
		out = append(out, wire.Record{Peer: wire.PeerID(p)})
	}
	return out
}
