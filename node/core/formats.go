package core

import (
	"cmp"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
)

// settled is the time for which all linked peers must have read the newest format before all is written in it. A peer
// of an earlier version that comes and goes costs no more than two epochs in this time.
const settled = time.Minute

// formats decides the format of messages that a peer writes for all.
type formats struct {
	newest, written wire.Format
	since           time.Duration // when a linked peer was last known not to read the newest
}

func newFormats(newest wire.Format) formats {
	newest = cmp.Or(newest, wire.NewestFormat)
	return formats{newest: newest, written: max(newest-1, wire.FirstFormat)}
}

// Writes returns the format of messages that the peer writes for all, such as a summary. It is the one before the
// newest until all linked peers have read the newest for a minute. A message to a single peer may be in another: see
// overlay.Reads.
func (m *Machine) Writes() wire.Format { return m.formats.written }

// heardFormat notes the newest format that a peer reads.
func (m *Machine) heardFormat(p wire.PeerID, reads wire.Format) {
	if f := &m.formats; reads < f.newest && slices.Contains(m.Overlay.Linked(), p) {
		f.since = m.now
		m.write(f.newest - 1)
	}
}

// judgeFormats begins to write the newest format when it is time.
func (m *Machine) judgeFormats() {
	f := &m.formats
	switch {
	case f.written == f.newest || m.now < f.since+settled:
	case m.Overlay.AllRead():
		m.write(f.newest)
	default:
		f.since = m.now
	}
}

// write makes the next epoch, which follows soon, one of a format.
func (m *Machine) write(format wire.Format) {
	if m.formats.written != format {
		m.formats.written = format
		m.announcer.epochs.move(m.now)
	}
}

// due returns when to look whether all linked peers read the newest format.
func (f *formats) due() wake {
	return wake{f.since + settled, f.written < f.newest}
}
