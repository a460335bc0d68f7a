package directory

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

const (
	signature    = "signature " // before each header
	randomPeers  = 10
	randomEpochs = 3
)

// published are summaries of a few peers in a few epochs, under a seed.
func published(under summary.SeedTag, name string) (all [randomPeers][randomEpochs]plain.Origin) {
	rng := rand.New(rand.NewPCG(1, 11))
	for i := range all {
		for j := range all[i] {
			keys := plain.Keys(rng, 100*(1+i%4))
			all[i][j] = plain.New(wire.PeerID(fmt.Sprint(name, i)), keys, summary.Header{
				Seed: under, Epoch: summary.Epoch{Generation: 1, Sequence: uint32(j + 1)}, Lifetime: time.Minute,
			})
			all[i][j].Envelope = append([]byte(signature), all[i][j].Envelope...)
		}
	}
	return all
}

// recounted is the memory of a directory, by what is in it.
func recounted(d *Directory) int {
	n := d.beside + d.bans.memory() + d.index.Memory() + d.samples.SizeBytes()
	if d.previous != nil {
		n += d.previous.index.Memory() + d.previous.samples.SizeBytes()
	}
	for i, e := range d.entries {
		if e == nil {
			continue
		}
		n += entryMemory
		if i < d.owns {
			continue
		}
		n += len(e.record) + len(e.envelope) + len(e.oldEnvelope)
		for _, p := range []*summary.Prefix{e.cur, e.next} {
			if p != nil {
				n += p.SizeBytes()
			}
		}
		for _, b := range e.bases {
			n += b.prefix.SizeBytes()
		}
	}
	return n
}

// TestRandomSequences: what a directory counts stays what it holds, in whatever order peers come, go, tell, change their
// summaries, are forgotten and expire, with more and with less room.
func TestRandomSequences(t *testing.T) {
	before := summary.Seed{Network: "slow", Number: 7}
	all := [2][randomPeers][randomEpochs]plain.Origin{published(plain.Tag, "peer"), published(before.Tag(), "peer")}
	own := [2][randomEpochs]plain.Origin{published(plain.Tag, "self")[0], published(before.Tag(), "self")[0]}
	runs, steps := 100, 400
	if testing.Short() {
		runs = 10
	}
	for seed := range uint64(runs) {
		rng := rand.New(rand.NewPCG(seed, 12))
		number := func(n int) int { return rng.IntN(n) }
		cfg := Config{
			Memory: 1 << 20, MaxOrigins: 1 + number(12), MaxGroup: 2, Compared: 4,
			Group: func(r wire.Record) string { return []string{"", "x", "y"}[r.Envelope[len(r.Envelope)-1]%3] },
		}
		if seed%2 == 1 {
			cfg.Previous, cfg.PreviousUntil = before, 90*time.Second
		}
		d := alone(rng, cfg)
		d.cfg.OpenHeader = func(b []byte) (summary.Header, error) { return summary.ParseHeader(b[len(signature):]) }
		now := time.Duration(0)
		linked := map[wire.PeerID]bool{}
		peer := func() wire.PeerID { return wire.PeerID(fmt.Sprint("peer", number(randomPeers))) }
		for step := range steps {
			p, from := peer(), peer()
			what := number(20)
			switch what {
			case 0, 1:
				if !linked[p] {
					d.Open(p, "")
					linked[p] = true
				}
			case 2:
				if linked[p] {
					d.Close(p)
					delete(linked, p)
				}
			case 3:
				d.Add(now, from, wire.Tag(plain.Tag, string(p)))
			case 4:
				d.Invite(now, from, wire.Tag(plain.Tag, string(p)))
			case 5, 6:
				d.LearnRecord(now, from, record(p))
			case 7, 8, 9, 10:
				s := all[number(2)][number(randomPeers)][number(randomEpochs)]
				e := d.Add(now, from, wire.GroupOf(s.Stream.Header()).OriginTag())
				if e == nil || e.Index() < d.owns {
					break
				}
				first := 0
				if cur := e.At(s.Stream.Header().Epoch); cur != nil {
					first = cur.Parts()
				}
				end := first + 1 + number(3)
				if end > s.Stream.Parts() {
					break
				}
				run, err := s.Stream.Run(first, end)
				if err != nil {
					t.Fatal(err)
				}
				d.Take(now, e, event.PartsReceived{
					From: from, Group: wire.GroupOf(s.Stream.Header()), Bytes: 500, Parts: wire.Parts{Envelope: s.Envelope, Record: s.Record, Run: run},
				})
			case 11:
				d.SetRoom(number(14))
			case 12:
				d.KeepToRoom(func(p wire.PeerID) bool { return p == "peer3" }, func(*Entry) {})
			case 13:
				d.cfg.Memory = d.Memory() * (5 + number(6)) / 10
				d.Shed(now, func(p wire.PeerID) bool { return p == "peer3" }, func(*Entry) {})
				if number(2) > 0 {
					d.cfg.Memory = 1 << 20
				}
			case 14:
				now += time.Duration(number(15)) * time.Second
				for _, s := range d.Step(now) {
					d.Remove(s.Index)
				}
				d.Tidy(now)
			case 15:
				d.DialFailed(p)
				d.Outcome(now, p, number(2), number(3))
			case 17:
				d.cfg.Memory = 1 << 20
				d.SetRoom(100)
			case 18:
				s := own[number(2)][number(randomEpochs)]
				d.Publish(now, event.Published{Stream: s.Stream, Envelope: s.Envelope, Record: s.Record})
			case 19:
				d.Estimate()
				d.RoundTrip(p, time.Second)
			case 16:
				d.SetRange(space.Around(d.PlaceOf(d.Own().tag), number(4)))
				d.Missed(now)
			}
			if err := d.Check(now); err != nil {
				t.Fatalf("seed %d, step %d, after %d: %v\n%v", seed, step, what, err, d)
			}
			if got, want := d.Memory(), recounted(d); got != want {
				t.Fatalf("seed %d, step %d, after %d: it counts %d bytes and holds %d\n%v", seed, step, what, got, want, d)
			}
			d.Changes()
		}
	}
}
