package scenario

import (
	"fmt"
	"strings"
	"time"

	"github.com/venn-p2p/venn/testnet/holdings"
)

// Explain describes the scenario in words, and the draws of its first trial. Errors are those of Plan.
func (s *Scenario) Explain() (string, error) {
	p, err := s.Plan(0)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	say("%s: %s", s.Name, strings.TrimSpace(s.Question))
	say("")
	say("strategies   %s; %d trials, with seeds drawn from %d", strings.Join(s.Strategies, ", "), s.Trials, s.Seed)
	say("peers        %d, with %d keys and %d holdings (%s)", p.Data.Peers(), p.Held(), p.Data.Holdings(), s.Collections.Data)
	for i, l := range s.Lines {
		n := 0
		for _, c := range p.Class {
			if c == i {
				n++
			}
		}
		say("lines        %d of %s: %v up, %v down", n, l.Name, l.Up, l.Down)
	}
	say("latency      %s", p.explainLatency())
	say("time         %v before the first query, %v of queries, %v after", s.Warmup, s.Asking, s.Patience)
	want := "one holder"
	if s.All {
		want = "every holder"
	}
	say("queries      %d, each for %s, by %s", len(p.Script.Asks), want, s.Queries.explain())
	if s.Sessions.Median > 0 {
		say("sessions     median %v, absences %v, Weibull of shape %v: %d moves", s.Sessions.Median, s.Sessions.Away, s.Sessions.Shape, len(p.Script.Moves))
	}
	if s.Changes.Share > 0 {
		say("changes      %v of every collection a minute, %v of the keys taken in new: %d changes", s.Changes.Share, s.Changes.New, len(p.Script.Changes))
	}
	if s.Loss > 0 {
		say("loss         %v of the packets", s.Loss)
	}
	if s.Reordered > 0 || s.Duplicated > 0 {
		say("order        %v of the messages are overtaken by others, %v come twice", s.Reordered, s.Duplicated)
	}
	if s.Undefended {
		say("defences     all are switched off")
	}
	for _, a := range s.Adversaries {
		does := ""
		for _, d := range AdversaryDocs {
			if d.Kind == a.Kind {
				does = d.Does
			}
		}
		of := ""
		if a.Identities > 0 {
			of = fmt.Sprintf(", with %d identities that they make up", a.Identities)
		}
		say("adversaries  %d of kind %s%s: each %s", a.Number, a.Kind, of, does)
	}
	for _, e := range s.Events {
		say("at %-9v %s", time.Duration(e.At), e.explain())
	}
	if len(s.Answers) == 0 {
		say("answers      none are in the file")
	}
	for _, name := range s.Strategies {
		a, said := s.Answers[name]
		if !said {
			continue
		}
		var parts []string
		for _, f := range s.Figures() {
			if i, there := a[f.Name]; there {
				parts = append(parts, fmt.Sprintf("%s %.6g to %.6g", f.Name, i[0], i[1]))
			}
		}
		say("answers      %s: %s", name, strings.Join(parts, ", "))
	}
	return b.String(), nil
}

func (p *Plan) explainLatency() string {
	l := p.Scenario.Latency
	switch {
	case l.Matrix != "" && p.raised > 0:
		return fmt.Sprintf("as measured in %s; %d below %v are raised to it", l.Matrix, p.raised, p.least)
	case l.Matrix != "":
		return "as measured in " + l.Matrix
	case len(l.Region) > 0:
		var names []string
		for _, r := range l.Region {
			names = append(names, r.Name)
		}
		return "by region: " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("%v to %v, by distance in a square", l.Least, l.Most)
}

func (q Queries) explain() string {
	switch {
	case q.Log != "":
		return "the log " + q.Log
	case q.Rule == holdings.Zipf:
		return fmt.Sprintf("the rule %s, exponent %v", q.Rule, q.Zipf)
	}
	return "the rule " + q.Rule
}

func (e Event) explain() string {
	of := "peers"
	if e.Of != "" {
		of += " of " + e.Of
	}
	share := fmt.Sprintf("%v of the %s", e.Share, of)
	switch e.Kind {
	case Kill:
		if e.Back > 0 {
			return fmt.Sprintf("%s go, and come back after %v", share, e.Back)
		}
		return share + " go for good"
	case Join:
		return fmt.Sprintf("%s come, within %v; they are not there before", share, e.Over)
	case Partition:
		return fmt.Sprintf("the network falls into %d parts", e.Parts)
	case Heal:
		return "the parts are joined again"
	case Crowd:
		return fmt.Sprintf("%d queries for one key, within %v", e.Queries, e.Over)
	case Slow:
		var parts []string
		if e.Up > 0 {
			parts = append(parts, fmt.Sprintf("%v up", e.Up))
		}
		if e.Down > 0 {
			parts = append(parts, fmt.Sprintf("%v down", e.Down))
		}
		s := fmt.Sprintf("the lines of %s carry %s", share, strings.Join(parts, ", "))
		if e.Lasts > 0 {
			s += fmt.Sprintf(", for %v", e.Lasts)
		}
		return s
	case Clock:
		return fmt.Sprintf("the clocks of %s jump %v ahead", share, e.By)
	case Older:
		return share + " are of the version before"
	}
	return e.Kind
}
