package directory

import (
	"bytes"
	"slices"

	"github.com/venn-p2p/venn/summary"
)

// envelope is a signed header as it is kept. The prefix has the header already, so of the envelope only what is before
// and after it is kept.
type envelope struct {
	around []byte
	before uint8 // how much of around is before the header; whole: around is all of the envelope
}

// whole marks an envelope that is kept with its header.
const whole = 255

// keepEnvelope returns what is kept of the envelope of a header. Where directories share envelopes, a piece of each one's
// own would take more.
func (d *Directory) keepEnvelope(signed []byte, h summary.Header) envelope {
	if header, err := h.AppendBinary(nil); err == nil && !d.cfg.Loop {
		if at := bytes.Index(signed, header); at >= 0 && at < whole {
			return envelope{slices.Concat(signed[:at], signed[at+len(header):]), uint8(at)}
		}
	}
	return envelope{d.Keep(signed), whole}
}

// envelope is that of the newest epoch.
func (e *Entry) envelope() envelope { return envelope{e.around, e.before} }

// setEnvelope sets that of the newest epoch.
func (e *Entry) setEnvelope(v envelope) { e.around, e.before = v.around, v.before }

// of returns the envelope of the header of p.
func (v envelope) of(p *summary.Prefix) []byte {
	if v.before == whole {
		return v.around
	}
	b, err := p.Header().AppendBinary(slices.Clone(v.around[:v.before]))
	if err != nil {
		panic(err) // a fault of package summary: the header was checked
	}
	return append(b, v.around[v.before:]...)
}
