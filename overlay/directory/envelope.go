package directory

import (
	"bytes"
	"slices"

	"github.com/venn-p2p/venn/summary"
)

// envelope is a signed header as it is kept. The prefix has the header already, so of the envelope only what is before
// and after it is kept. The zero value is no envelope.
type envelope struct {
	around []byte
	before uint8 // one more than how much of around is before the header; whole: around is all of the envelope
}

// whole marks an envelope that is kept with its header.
const whole = 255

func (v envelope) empty() bool { return v.before == 0 }

// keepEnvelope returns what is kept of the envelope of a header. Where directories share envelopes, a piece of each one's
// own would take more.
func (d *Directory) keepEnvelope(signed []byte, h summary.Header) envelope {
	if header, err := h.AppendBinary(nil); err == nil && !d.cfg.Loop {
		if at := bytes.Index(signed, header); at >= 0 && at+1 < whole {
			return envelope{slices.Concat(signed[:at], signed[at+len(header):]), uint8(at + 1)}
		}
	}
	return envelope{d.Keep(signed), whole}
}

// envelope is that of the newest epoch.
func (e *Entry) envelope() envelope { return envelope{e.around, e.before} }

// setEnvelope sets that of the newest epoch.
func (e *Entry) setEnvelope(v envelope) { e.around, e.before = v.around, v.before }

// of returns the envelope of the header of p; nil if there is none.
func (v envelope) of(p *summary.Prefix) []byte {
	switch {
	case v.empty():
		return nil
	case v.before == whole:
		return v.around
	}
	before, after := v.around[:v.before-1], v.around[v.before-1:]
	b, err := p.Header().AppendBinary(slices.Clone(before))
	if err != nil {
		panic(err) // a fault of package summary: the header was checked
	}
	return append(b, after...)
}
