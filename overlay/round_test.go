package overlay_test

import (
	"slices"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/exchange"
	"github.com/venn-p2p/venn/overlay/overlaylab"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// The bytes of an inquiry and its answer, beside what they carry.
const (
	inquiryFields = 24 // depth, near, nearer, least, a meeting place; the lengths of the bitmap and of the known
	namesFields   = 4  // depth; the length of the depths
	elementFields = 4  // of each record and each summary: its field, its length, a depth
	knownOrigin   = 6  // place and sequence number, of each origin known
)

// round is an inquiry with its answer.
type round struct {
	inquiry       wire.Inquiry
	names         wire.Names
	asked, answer int // bytes on the wire
}

// rounds keeps the rounds of all peers of a network from now on.
func rounds(net *overlaylab.Network) *[]round {
	var all []round
	net.Trace = func(_ time.Duration, _ int, e event.Effect) {
		if a, is := e.(event.Answer); is {
			if q, is := net.Question(a.Request).(wire.Inquiry); is {
				names := a.Answer.(wire.Names)
				all = append(all, round{q, names, q.Size(), names.Size()})
			}
		}
	}
	return &all
}

// introductionBytes is the size of summaries that are passed on.
func introductionBytes(all []wire.Parts) (n int) {
	for _, i := range all {
		n += wire.Parts{Envelope: i.Envelope, Record: i.Record, Run: i.Run}.Size() + elementFields
	}
	return n
}

// most are the most bytes that a round may take on the wire, by what it carries.
func (r *round) most() (asked, answer int) {
	asked = inquiryFields + len(r.inquiry.Lacks) + knownOrigin*len(r.inquiry.Known) + introductionBytes(r.inquiry.Own)
	answer = namesFields + introductionBytes(r.names.Introductions)
	for _, p := range r.names.Peers {
		answer += len(p.Record.Envelope) + elementFields
	}
	return asked, answer
}

// mean is the mean size of some rounds, of both messages.
func mean(all []round, which func(*round) bool) (n int, bytes float64) {
	for _, r := range all {
		if which(&r) {
			n++
			bytes += float64(r.asked + r.answer)
		}
	}
	return n, bytes / float64(max(1, n))
}

// TestBytesOfRounds: a round takes six bytes for each origin known, and one sample for each peer found. So once all are
// found it takes less than a hundred bytes. A lookup of a meeting place carries the asker's own sample beside, and the
// record of a peer now and then.
func TestBytesOfRounds(t *testing.T) {
	const (
		peers, interests = 60, 6
		alike            = peers/interests - 1 // all of them fit beside the own range
	)
	configs := make([]overlay.Config, peers)
	for i := range configs {
		configs[i] = overlay.Config{Up: fast, Down: fast, MaxOrigins: 16, Cache: shared}
	}
	net := joined(t, configs, func(i int) []summary.Fingerprint {
		fps := overlaylab.Fingerprints(40, 0, uint64(1000+i%interests))
		return append(fps, overlaylab.Fingerprints(10, 0, uint64(i))...)
	})
	all := rounds(net)
	net.Run(net.Now + 2*time.Minute)
	for _, r := range *all {
		asked, answer := r.most()
		if r.asked > asked || r.answer > answer {
			t.Errorf("a round asks with %d bytes and answers with %d, at most %d and %d by what it carries", r.asked, r.answer, asked, answer)
		}
		if budget := exchange.Cost(r.inquiry); r.asked > budget {
			t.Errorf("%d bytes count as %d for the line", r.asked, budget)
		}
		if budget := exchange.Cost(r.names); r.answer > budget {
			t.Errorf("%d bytes of an answer count as %d for the line", r.answer, budget)
		}
	}
	named, samples := 0, 0
	for _, r := range *all {
		named += len(r.names.Introductions)
		samples += introductionBytes(r.names.Introductions)
	}
	sample := float64(samples) / float64(max(1, named)) // with header and record
	found, bytes := mean(*all, func(r *round) bool { return len(r.names.Introductions) > 0 })
	t.Logf("%d rounds that find somebody take %.0f bytes each, and name %d, each with a sample of %.0f bytes", found, bytes, named, sample)
	if found < peers || named < peers*alike/2 {
		t.Errorf("only %d rounds found %d", found, named)
	}

	for i, p := range net.Peers {
		if n := len(slices.DeleteFunc(p.Overlay.Similar(peers), func(s overlay.Alike) bool { return s.Overlap.Value < 0.5 })); n != alike {
			t.Fatalf("peer %d has found %d of %d like it", i, n, alike)
		}
	}
	*all = nil
	net.Run(net.Now + 10*time.Minute)
	isLookup := func(r *round) bool { return r.inquiry.Meet != 0 }
	gossip, idle := mean(*all, func(r *round) bool { return !isLookup(r) })
	if gossip < peers || idle > 100 {
		t.Errorf("%d rounds at rest take %.0f bytes each, want 100 at most", gossip, idle)
	}
	lookups, with := mean(*all, isLookup)
	if lookups < peers || with > idle+sample+100 {
		t.Errorf("%d lookups take %.0f bytes each, want 100 at most beside those of a round and of a sample of %.0f", lookups, with, sample)
	}
	t.Logf("at rest %d rounds of gossip take %.0f bytes each, and %d lookups %.0f", gossip, idle, lookups, with)
	for _, r := range *all {
		if len(r.names.Introductions) > 0 {
			t.Errorf("an asker that knows all of its like hears of %d", len(r.names.Introductions))
		}
	}
}
