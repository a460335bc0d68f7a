package core

import (
	"cmp"
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
)

// settled is the time for which all linked peers must have read the newest format before messages for all are written
// in it. A peer of an earlier version that comes and goes costs no more than two epochs in this time.
const settled = time.Minute

// formats decides in which format a peer writes messages for all.
type formats struct {
	newest, written wire.Format
	since           time.Duration // when a linked peer was last seen not to read the newest format
}

func newFormats(newest wire.Format) formats {
	newest = cmp.Or(newest, wire.NewestFormat)
	return formats{newest: newest, written: max(newest-1, wire.FirstFormat)}
}

// Writes returns the format in which the peer writes messages for all, such as a summary. It is the format before the
// newest, until all linked peers have read the newest for a minute. A message to a single peer may be in another
// format: see overlay.Reads.
func (m *Machine) Writes() wire.Format { return m.formats.written }

// heardFormat goes back to the format before the newest if a linked peer cannot read the newest.
func (m *Machine) heardFormat(reads wire.Format) {
	if f := &m.formats; reads < f.newest {
		f.since = m.now
		m.write(f.newest - 1)
	}
}

// judgeFormats switches to the newest format once all linked peers have read it for long enough.
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

// write sets the format of messages for all. If it changes, an epoch in that format follows soon.
func (m *Machine) write(format wire.Format) {
	if m.formats.written != format {
		m.formats.written = format
		m.announcer.epochs.move(m.now)
	}
}

// due returns when to check whether all linked peers read the newest format.
func (f *formats) due() wake {
	return wake{f.since + settled, f.written < f.newest}
}
