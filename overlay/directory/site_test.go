package directory

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay/event"
	"github.com/venn-p2p/venn/overlay/overlaylab/plain"
	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// inGroups is a directory whose own record has an address of the group "self". A record's group is what it says after
// its peer.
func inGroups(t *testing.T) *Directory {
	d := alone(rand.New(rand.NewPCG(1, 5)), Config{
		Memory: 64 << 20, MaxOrigins: 1000, MaxGroup: 5, Group: func(r wire.Record) string { return string(r.Peer[:4]) },
	})
	own := plain.Of("self", []summary.Fingerprint{1})
	d.Publish(0, event.Published{Stream: own.Stream, Envelope: own.Envelope, Record: own.Record})
	d.Open("linked", "")
	t.Cleanup(func() {
		if err := d.Check(time.Minute); err != nil {
			t.Error(err)
		}
	})
	return d
}

// All peers of a site behind one address know each other.
func TestSiteOfOneAddress(t *testing.T) {
	d := inGroups(t)
	const peers = 200
	for i := range peers {
		p := wire.PeerID(fmt.Sprint("self", i))
		d.LearnRecord(0, "linked", record(p))
		hear(d, 0, "linked", plain.Of(p, []summary.Fingerprint{summary.Fingerprint(i), 7}))
	}
	if d.Origins() != peers {
		t.Errorf("%d of %d peers are known", d.Origins(), peers)
	}
}

// Strangers of one group of addresses are few, whether they have summaries or, at our own site, none.
func TestStrangersOfOneGroup(t *testing.T) {
	d := inGroups(t)
	for i := range 64 {
		p := wire.PeerID(fmt.Sprint("away", i))
		d.LearnRecord(0, "linked", record(p))
		hear(d, 0, "linked", plain.Of(p, []summary.Fingerprint{summary.Fingerprint(i), 7}))
		d.LearnRecord(0, "linked", record(wire.PeerID(fmt.Sprint("self", i))))
	}
	if away, site := d.groups["away"], d.groups["self"]; d.Origins() != 5 || away != 5 || site != 5 {
		t.Errorf("%d summaries of strangers, %d and %d in their groups, want 5 each", d.Origins(), away, site)
	}
}

// Linked peers take no place in a group, and have none when their link closes and it is full.
func TestLinkedInNoGroup(t *testing.T) {
	d := inGroups(t)
	for i := range 20 {
		p := wire.PeerID(fmt.Sprint("away", i))
		d.Open(p, "")
		hear(d, 0, p, plain.Of(p, []summary.Fingerprint{summary.Fingerprint(i), 7}))
	}
	if d.Origins() != 20 || len(d.groups) > 0 {
		t.Errorf("%d of 20 linked peers are known, %d groups", d.Origins(), len(d.groups))
	}
	for i := range 20 {
		d.Close(wire.PeerID(fmt.Sprint("away", i)))
	}
	if d.Origins() != 5 || d.groups["away"] != 5 {
		t.Errorf("%d are known without links, %d in their group, want 5", d.Origins(), d.groups["away"])
	}
	d.Open("away0", "")
	if d.groups["away"] != 4 {
		t.Errorf("%d in the group of which one is linked again", d.groups["away"])
	}
}

// Dials that failed before a peer was connected do not count against it.
func TestConnectedAfterFailedDials(t *testing.T) {
	d := inGroups(t)
	d.LearnRecord(0, "linked", record("away"))
	d.DialFailed("away")
	if e := d.Lookup("away"); e.DialFails() != 1 {
		t.Fatalf("%d failed dials", e.DialFails())
	}
	d.Open("away", "")
	if e := d.Lookup("away"); e.DialFails() != 0 {
		t.Errorf("%d failed dials of a connected peer", e.DialFails())
	}
}
