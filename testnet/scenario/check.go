package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/venn-p2p/venn/testnet/holdings"
	"github.com/venn-p2p/venn/testnet/sim"
)

// Limits of a scenario: a plan keeps all that they limit in memory.
const (
	maxQueries = 10_000_000       // most queries of a scenario, and as many in all crowds together
	maxSize    = 1 << 28          // largest number in Collections: keys, size, copies
	maxChanges = 20_000_000       // most changes of collections, as estimated
	longest    = 1000 * time.Hour // longest run, and longest time in an event
)

// check returns every fault.
func (s *Scenario) check() (faults []error) {
	fault := func(bad bool, key, format string, args ...any) {
		if bad {
			faults = append(faults, s.source.fault(key, format, args...))
		}
	}
	share := func(key string, x float64) { fault(!(x >= 0 && x <= 1), key, "%v is not from 0 to 1", x) }
	positive := func(key string, x float64) { fault(!(x > 0 && x <= 1e9), key, "%v is not above 0", x) }
	oneOf := func(key, value string, of ...string) {
		fault(!slices.Contains(of, value), key, "%q is none of %s", value, strings.Join(of, ", "))
	}

	fault(strings.TrimSpace(s.Question) == "", "question", "a scenario says which question it answers")
	fault(s.Peers < 0 || s.Peers == 1 || s.Peers > sim.MaxPeers, "peers", "%d is not from 2 to %d", s.Peers, sim.MaxPeers)
	fault(s.Trials < 1 || s.Trials > 1000, "trials", "%d is not from 1 to 1000", s.Trials)
	for name, share := range map[string]float64{"loss": s.Loss, "reordered": s.Reordered, "duplicated": s.Duplicated} {
		fault(!(share >= 0 && share <= 0.5), name, "%v is not from 0 to 0.5", share)
	}
	short := func(key string, d Duration, most time.Duration) {
		fault(time.Duration(d) > most, key, "%v is above %v", d, most)
	}
	short("warmup", s.Warmup, longest)
	short("asking", s.Asking, longest)
	short("patience", s.Patience, longest)
	fault(s.End() > longest, "asking", "the run takes %v, at most %v", s.End(), longest)
	short("sessions.median", s.Sessions.Median, sim.MaxSession)
	short("sessions.away", s.Sessions.Away, sim.MaxSession)
	oneOf("rows", s.Rows, Figures, Trials)
	fault(!(s.Killed >= 0 && s.Killed <= 0.99), "killed", "%v is not from 0 to 0.99", s.Killed)
	share("strong", s.Strong)
	fault(s.Strong > 0 && s.Lines[0].Name != strong, "strong", "classes of lines, and a share of strong ones: say one")
	share("queries.outside", s.Queries.Outside)
	fault(s.Queries.Outside > 0 && (s.Collections.Data != Clusters || s.Queries.Rule != holdings.Interest || s.Queries.Log != ""), "queries.outside", "is of queries by interest, of collections that are made up")
	share("links.rewire", s.Links.Rewire)
	fault(s.Links.Rewire > 0 && s.Links.Kind != sim.SmallWorld, "links.rewire", "is of links of the kind %s", sim.SmallWorld)
	names := map[string]bool{}
	for _, n := range s.Strategies {
		fault(names[n], "strategies", "%q twice", n)
		names[n] = true
	}

	c := s.Collections
	fault(c.Chunk < 1, "collections.chunk", "%d is not 1 or more", c.Chunk)
	for name, n := range map[string]int{"keys": c.Keys, "size": c.Size, "copies": c.Copies} {
		fault(n < 1 || n > maxSize, "collections."+name, "%d is not from 1 to %d", n, maxSize)
	}
	share("collections.outside", c.Outside)
	fault(!(c.Zipf >= 0 && c.Zipf <= 10), "collections.zipf", "%v is not from 0 to 10", c.Zipf)

	classes := map[string]bool{}
	for i, l := range s.Lines {
		key := fmt.Sprintf("lines.%d.", i)
		positive(key+"share", l.Share)
		fault(l.Up == 0, key+"up", "a line has a rate each way")
		fault(l.Down == 0, key+"down", "a line has a rate each way")
		fault(classes[l.Name], key+"name", "%q twice", l.Name)
		classes[l.Name] = true
	}
	s.checkLatency(fault, positive)
	oneOf("links.kind", string(s.Links.Kind), string(sim.Random), string(sim.SmallWorld), string(sim.PowerLaw), string(sim.Star))
	fault(s.Links.Degree < 1 || s.Links.Degree > 1000, "links.degree", "%d is not from 1 to 1000", s.Links.Degree)
	oneOf("queries.rule", s.Queries.Rule, holdings.Rules...)
	fault(s.Queries.Number < 1 || s.Queries.Number > maxQueries, "queries.number", "%d is not from 1 to %d", s.Queries.Number, maxQueries)
	positive("queries.zipf", s.Queries.Zipf)
	fault(!(s.Sessions.Shape >= 0.1 && s.Sessions.Shape <= 10), "sessions.shape", "%v is not from 0.1 to 10", s.Sessions.Shape)
	share("changes.share", s.Changes.Share)
	share("changes.new", s.Changes.New)
	for _, name := range slices.Sorted(maps.Keys(s.Parameters)) {
		fault(!(s.Parameters[name] >= 0 && s.Parameters[name] <= 1e12), "parameters."+name, "%v is not from 0 to 1e12", s.Parameters[name])
	}
	s.checkEvents(fault, share, oneOf, short, classes)
	s.checkAdversaries(fault, oneOf)
	for _, name := range slices.Sorted(maps.Keys(s.Windows)) {
		w := s.Windows[name]
		fault(w[1] <= w[0], "windows."+name, "ends at %v, began at %v", w[1], w[0])
		fault(time.Duration(w[0]) > s.End(), "windows."+name, "begins at %v, after the end at %v", w[0], s.End())
	}
	s.checkAnswers(fault)
	return faults
}

func (s *Scenario) checkAdversaries(fault func(bool, string, string, ...any), oneOf func(string, string, ...string)) {
	number, identities := 0, 0 // sums over the earlier adversaries
	for i, a := range s.Adversaries {
		key := fmt.Sprintf("adversaries.%d.", i)
		oneOf(key+"kind", a.Kind, kinds(AdversaryDocs)...)
		fault(a.Number < 1 || a.Number > sim.MaxPeers || s.Peers > 0 && number+a.Number >= s.Peers, key+"number", "%d is not from 1 to less than all peers", a.Number)
		fault(a.Identities < 0 || a.Identities > maxIdentities-identities, key+"identities", "%d is not from 1 to %d in all", a.Identities, maxIdentities)
		fault(a.Identities > 0 && !a.invents(), key+"identities", "adversaries of kind %s make up nobody", a.Kind)
		number, identities = min(sim.MaxPeers, number+max(0, a.Number)), min(maxIdentities, identities+max(0, a.Identities))
	}
}

// checkLatency finds faults of latencies. One of any two regions must give the latency between them.
func (s *Scenario) checkLatency(fault func(bool, string, string, ...any), positive func(string, float64)) {
	l := s.Latency
	fault(time.Duration(l.Least) < time.Millisecond && (l.Least != 0 || l.Matrix == ""), "latency.least", "%v is below 1ms", l.Least)
	fault(l.Most < l.Least || time.Duration(l.Most) > 10*time.Second, "latency.most", "%v is not from %v to 10s", l.Most, l.Least)
	fault(l.Matrix != "" && len(l.Region) > 0, "latency.matrix", "latencies are measured or by region, not both")
	regions := map[string]int{}
	for i, r := range l.Region {
		key := fmt.Sprintf("latency.region.%d.", i)
		_, twice := regions[r.Name]
		fault(r.Name == "" || twice, key+"name", "every region has a name of its own")
		regions[r.Name] = i
		positive(key+"share", r.Share)
		fault(time.Duration(r.Within) < time.Millisecond, key+"within", "%v is below 1ms", r.Within)
	}
	for i, r := range l.Region {
		for name, d := range r.To {
			key := fmt.Sprintf("latency.region.%d.to.%s", i, name)
			_, known := regions[name]
			fault(!known, key, "there is no such region")
			fault(time.Duration(d) < time.Millisecond || time.Duration(d) > 10*time.Second, key, "%v is not from 1ms to 10s", d)
		}
		for _, o := range l.Region[:i] {
			_, one := r.To[o.Name]
			_, other := o.To[r.Name]
			fault(!one && !other, fmt.Sprintf("latency.region.%d.to", i), "how far is it to %s?", o.Name)
		}
	}
}

// checkEvents finds faults of the events, which must be in order of time. classes has the names of all line classes.
func (s *Scenario) checkEvents(fault func(bool, string, string, ...any), share func(string, float64), oneOf func(string, string, ...string), short func(string, Duration, time.Duration), classes map[string]bool) {
	cut, crowds := false, 0
	for i, e := range s.Events {
		key := fmt.Sprintf("events.%d.", i)
		oneOf(key+"kind", e.Kind, kinds(Events)...)
		fault(i > 0 && e.At < s.Events[i-1].At, key+"at", "%v comes before the event before it", e.At)
		fault(time.Duration(e.At) > s.End(), key+"at", "%v is after the end at %v", e.At, s.End())
		fault(e.Of != "" && !classes[e.Of], key+"of", "there is no class of lines %q", e.Of)
		share(key+"share", e.Share)
		for name, d := range map[string]Duration{"back": e.Back, "over": e.Over, "lasts": e.Lasts, "by": e.By} {
			short(key+name, d, longest)
		}
		switch e.Kind {
		case Kill, Join, Slow, Clock, Older:
			fault(e.Share == 0, key+"share", "which share of the peers?")
		}
		switch e.Kind {
		case Partition:
			fault(e.Parts < 2 || e.Parts > 200, key+"parts", "%d is not from 2 to 200", e.Parts)
			fault(cut, key+"kind", "the partition before it has not healed")
			cut = true
		case Heal:
			fault(!cut, key+"kind", "there is no partition to heal")
			fault(cut && i > 0 && e.At == s.Events[i-1].At && s.Events[i-1].Kind == Partition, key+"at", "a partition heals later than it begins")
			cut = false
		case Crowd:
			bad := e.Queries < 1 || e.Queries > maxQueries-crowds
			fault(bad, key+"queries", "%d is not from 1 to %d, in all crowds", e.Queries, maxQueries)
			if !bad {
				crowds += e.Queries
			}
		case Slow:
			fault(e.Down == 0 && e.Up == 0, key+"down", "how slow, down or up?")
		case Clock:
			fault(e.By == 0, key+"by", "how far ahead?")
		case Older:
			fault(e.At != 0, key+"at", "peers are of the version before from the start: 0s")
		}
	}
}

func (s *Scenario) checkAnswers(fault func(bool, string, string, ...any)) {
	figures := s.figureNames()
	for _, name := range slices.Sorted(maps.Keys(s.Answers)) {
		key := "answers." + name
		fault(!slices.Contains(s.Strategies, name), key, "the scenario does not run %s", name)
		a := s.Answers[name]
		for _, figure := range slices.Sorted(maps.Keys(a)) {
			fault(!slices.Contains(figures, figure), key+"."+figure, "is none of %s", strings.Join(figures, ", "))
			fault(!(a[figure][0] <= a[figure][1]), key+"."+figure, "%v is no interval", a[figure])
		}
	}
}
