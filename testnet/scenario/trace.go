package scenario

import (
	"bytes"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// maxRows is the largest number of rows of a table that a scenario names.
const maxRows = 10_000_000

// table reads a CSV file that the scenario names under a key, row by row. Lines that begin with # are comments.
func (p *Plan) table(key, path string, columns int, row func(cells []string) error) error {
	f, err := p.open(path)
	if err != nil {
		return p.source.fault(key, "%w", err)
	}
	defer f.Close()
	r := csv.NewReader(&shortLines{r: f})
	r.Comment, r.FieldsPerRecord = '#', columns
	for n := 0; ; n++ {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && n == maxRows {
			err = fmt.Errorf("more than %d rows", maxRows)
		}
		if err != nil {
			return p.source.fault(key, "%s: %w", path, err)
		}
		if err := row(cells); err != nil {
			line, _ := r.FieldPos(0)
			return p.source.fault(key, "%s: line %d: %w", path, line, err)
		}
	}
}

// maxLine is the longest line of a table, in bytes.
const maxLine = 1 << 16

// shortLines passes on its input until a line is too long: a file that is no table may have no end of line at all.
type shortLines struct {
	r    io.Reader
	line int // bytes of the line that has not ended
}

func (s *shortLines) Read(p []byte) (int, error) {
	n, err := s.r.Read(p[:min(len(p), maxLine)])
	if end := bytes.LastIndexByte(p[:n], '\n'); end >= 0 {
		s.line = n - end - 1
	} else if s.line += n; s.line > maxLine {
		return 0, fmt.Errorf("a line has more than %d bytes", maxLine)
	}
	return n, err
}

// keyNamed returns the number of a key as all logs of queries name it: by the key's bytes, their hexadecimal digits
// after "0x", or "#" and the key's number, from 0; a plain number that is no key stands for a number, too.
func (p *Plan) keyNamed(text string) (uint32, bool) {
	if digits, is := strings.CutPrefix(text, "0x"); is {
		if key, err := hex.DecodeString(digits); err == nil {
			return p.Lookup(key)
		}
	}
	if k, known := p.Lookup([]byte(text)); known {
		return k, true
	}
	k, err := strconv.ParseUint(strings.TrimPrefix(text, "#"), 10, 32)
	return uint32(k), err == nil && k < uint64(len(p.Keys))
}

// peerNamed returns the number of a peer that a table names, by its name or by its number.
func (p *Plan) peerNamed(name string) (strategy.ID, bool) {
	at := slices.Index(p.Names, name)
	if i, err := strconv.Atoi(name); at < 0 && err == nil && i >= 0 && i < len(p.Names) {
		at = i
	}
	return strategy.ID(at), at >= 0
}

// edges reads the links at the start, opener first; nil: there is no file of them.
func (p *Plan) edges() (out [][2]strategy.ID, err error) {
	if p.Links.File == "" {
		return nil, nil
	}
	pairs := map[[2]strategy.ID]bool{}
	err = p.table("links.file", p.Links.File, 2, func(cells []string) error {
		a, knownA := p.peerNamed(cells[0])
		b, knownB := p.peerNamed(cells[1])
		pair := [2]strategy.ID{min(a, b), max(a, b)}
		if !knownA || !knownB || a == b || pairs[pair] {
			return errors.New("want two peers, by name or number, each pair once")
		}
		pairs[pair] = true
		out = append(out, [2]strategy.ID{a, b})
		return nil
	})
	if err == nil && len(out) == 0 {
		err = p.source.fault("links.file", "%s: no link is in it", p.Links.File)
	}
	return out, err
}

// sessions reads the sessions of peers: rows of a peer, and the seconds from which and to which it is there. A peer may
// have several rows, one after the other; a peer without a row is away.
func (p *Plan) sessions() error {
	p.peers = make([][]sim.Session, p.Data.Peers())
	return p.table("sessions.log", p.Sessions.Log, 3, func(cells []string) error {
		id, known := p.peerNamed(cells[0])
		from, errFrom := strconv.ParseFloat(cells[1], 64)
		to, errTo := strconv.ParseFloat(cells[2], 64)
		end := p.End().Seconds() + 1
		if !known || errFrom != nil || errTo != nil || !(from >= 0 && from < to) {
			return errors.New("want a peer, by name or number, and the seconds from which and to which it is there")
		}
		all := p.peers[id]
		s := sim.Session{From: time.Duration(min(from, end) * float64(time.Second)), To: time.Duration(min(to, end) * float64(time.Second))}
		if n := len(all); n > 0 && s.From <= all[n-1].To {
			return errors.New("the peer is there already, or was later")
		}
		if s.From < s.To {
			p.peers[id] = append(all, s)
		}
		return nil
	})
}
