package directory

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary"
)

// TestEnvelope: an envelope comes back as it was, wherever the header is in it, and is kept without the header where that
// is possible.
func TestEnvelope(t *testing.T) {
	s := sign(t, wire.PeerID("origin"), []summary.Fingerprint{1, 2, 3})
	header := s.envelope
	before, after := bytes.Repeat([]byte{1}, 60), bytes.Repeat([]byte{2}, 64)
	for _, c := range []struct {
		name   string
		signed []byte
		loop   bool
		kept   int
	}{
		{"header alone", header, false, 0},
		{"signed", slices.Concat(before, header, after), false, len(before) + len(after)},
		{"twice in it", slices.Concat(before, header, header), false, len(before) + len(header)},
		{"in another form", before, false, len(before)},
		{"far behind", slices.Concat(make([]byte, whole), header), false, whole + len(header)},
		{"shared", slices.Concat(before, header), true, len(before) + len(header)},
		{"as far behind as can be", slices.Concat(make([]byte, whole-2), header), false, whole - 2},
		{"just further", slices.Concat(make([]byte, whole-1), header), false, whole - 1 + len(header)},
	} {
		d := &Directory{cfg: Config{Loop: c.loop}}
		kept := d.keepEnvelope(c.signed, s.stream.Header())
		if got := kept.of(s.stream); !bytes.Equal(got, c.signed) || len(kept.around) != c.kept {
			t.Errorf("%s: %d bytes kept, want %d; %x came back, not %x", c.name, len(kept.around), c.kept, got, c.signed)
		}
	}
}

// TestNoEnvelope: of no epoch there is no envelope, and Check reports a prefix that has none.
func TestNoEnvelope(t *testing.T) {
	if got := (envelope{}).of(nil); got != nil {
		t.Errorf("%x is the envelope of nothing", got)
	}
	for _, loop := range []bool{false, true} {
		d := alone(rand.New(rand.NewPCG(1, 2)), Config{Memory: 1 << 20, MaxOrigins: 10, Loop: loop})
		d.Open("from")
		_, ok := hear(d, 0, "from", sign(t, "origin", []summary.Fingerprint{1, 2, 3}))
		if err := d.Check(0); !ok || err != nil {
			t.Fatalf("taken in: %v, %v", ok, err)
		}
		d.Lookup("origin").setEnvelope(envelope{})
		if d.Check(0) == nil {
			t.Errorf("loop %v: a prefix without an envelope passes", loop)
		}
	}
}
