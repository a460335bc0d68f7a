package sim

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// Record is a line of a trace: something that a peer did, in the order in which the simulator merged it. A trace is the
// records of a run one after the other, RecordBytes each, big endian, in the order of the fields. Its hash is the
// SHA-256 of that.
type Record struct {
	At    time.Duration // when; for a message when it arrives
	Kind  uint8
	Peer  strategy.ID // whose doing it is
	Other strategy.ID // whom it is about
	Bytes uint32
	Query strategy.QueryID
}

// RecordBytes is the length of a record in a trace.
const RecordBytes = 8 + 1 + 4 + 4 + 4 + 4

func (r Record) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(r.At))
	b = append(b, r.Kind)
	b = binary.BigEndian.AppendUint32(b, uint32(r.Peer))
	b = binary.BigEndian.AppendUint32(b, uint32(r.Other))
	b = binary.BigEndian.AppendUint32(b, r.Bytes)
	return binary.BigEndian.AppendUint32(b, uint32(r.Query))
}

func parseRecord(b []byte) Record {
	return Record{
		At: time.Duration(binary.BigEndian.Uint64(b)), Kind: b[8],
		Peer:  strategy.ID(binary.BigEndian.Uint32(b[9:])),
		Other: strategy.ID(binary.BigEndian.Uint32(b[13:])),
		Bytes: binary.BigEndian.Uint32(b[17:]),
		Query: strategy.QueryID(binary.BigEndian.Uint32(b[21:])),
	}
}

var kindNames = [...]string{
	join: "joins", leave: "leaves", arrive: "sends to", receive: "receives from", bounce: "not delivered", wake: "wakes",
	start: "asks", dialled: "dials", accepted: "accepts", refused: "refused by", closed: "closes", linked: "linked by", handshake: "connects to",
	looked: "holds the key", missed: "lacks the key", found: "finds", done: "done", changed: "changes", killed: "killed", ended: "hears the end of", piece: "sends a packet to",
}

// What says what the peer does, in a word or a few.
func (r Record) What() string {
	if int(r.Kind) < len(kindNames) {
		return kindNames[r.Kind]
	}
	return "?"
}

// String is the record for people.
func (r Record) String() string {
	return fmt.Sprintf("%v peer %d %s %d, %d bytes, query %d", r.At, r.Peer, r.What(), r.Other, r.Bytes, r.Query)
}

// Records reads a trace. The first error ends it; errors match [ErrTrace].
func Records(trace io.Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		in := bufio.NewReader(trace)
		for n := 0; ; n++ {
			r, more, err := readRecord(in)
			switch {
			case err != nil:
				yield(Record{}, fmt.Errorf("%w: record %d: %w", ErrTrace, n, err))
				return
			case !more || !yield(r, nil):
				return
			}
		}
	}
}

// tracer hashes records, and writes them if somebody wants them.
type tracer struct {
	hash hash.Hash
	out  io.Writer // nil: nobody wants them
	err  error     // of writing
}

func newTracer(w io.Writer) tracer { return tracer{hash: sha256.New(), out: w} }

// add takes in whole records.
func (t *tracer) add(records []byte) {
	if len(records) == 0 {
		return
	}
	t.hash.Write(records)
	if t.out != nil && t.err == nil {
		_, t.err = t.out.Write(records)
	}
}

// end returns the trace's hash, and what went wrong in writing it.
func (t *tracer) end() (string, error) { return hex.EncodeToString(t.hash.Sum(nil)), t.err }

// ErrTrace is matched by the errors of reading a trace.
var ErrTrace = errors.New("sim: bad trace")

// Difference is where two traces part.
type Difference struct {
	Number       int // of the record, from 0
	A, B         Record
	OnlyA, OnlyB bool // one has ended, and this one has not
}

// Diff finds the first record in which two traces differ; nil: there is none.
func Diff(a, b io.Reader) (*Difference, error) {
	a, b = bufio.NewReader(a), bufio.NewReader(b)
	for n := 0; ; n++ {
		ra, moreA, err := readRecord(a)
		if err != nil {
			return nil, fmt.Errorf("%w: first, record %d: %w", ErrTrace, n, err)
		}
		rb, moreB, err := readRecord(b)
		if err != nil {
			return nil, fmt.Errorf("%w: second, record %d: %w", ErrTrace, n, err)
		}
		switch {
		case !moreA && !moreB:
			return nil, nil
		case moreA != moreB || ra != rb:
			return &Difference{Number: n, A: ra, B: rb, OnlyA: !moreB, OnlyB: !moreA}, nil
		}
	}
}

// ErrDiffers is matched by the error of a run that doesn't repeat the one that it is compared with.
var ErrDiffers = errors.New("sim: the run differs from the trace")

// Replay compares a run with the trace of an earlier one: it is to be the run's Config.Trace. The run's error matches
// ErrDiffers and says where, if it does something else. Done says whether the earlier run did more.
type Replay struct {
	earlier *bufio.Reader
	number  int // of the record
}

// NewReplay reads the trace to compare with.
func NewReplay(earlier io.Reader) *Replay { return &Replay{earlier: bufio.NewReader(earlier)} }

// Write takes in whole records.
func (r *Replay) Write(b []byte) (int, error) {
	for at := 0; at+RecordBytes <= len(b); at += RecordBytes {
		now := parseRecord(b[at:])
		was, more, err := readRecord(r.earlier)
		switch {
		case err != nil:
			return at, fmt.Errorf("%w: record %d: %w", ErrTrace, r.number, err)
		case !more:
			return at, fmt.Errorf("%w: after its end, record %d: %v", ErrDiffers, r.number, now)
		case now != was:
			return at, fmt.Errorf("%w: record %d was: %v; is: %v", ErrDiffers, r.number, was, now)
		}
		r.number++
	}
	return len(b), nil
}

// Done returns an error if the earlier run did more.
func (r *Replay) Done() error {
	was, more, err := readRecord(r.earlier)
	switch {
	case err != nil:
		return fmt.Errorf("%w: record %d: %w", ErrTrace, r.number, err)
	case more:
		return fmt.Errorf("%w: it goes on with record %d: %v", ErrDiffers, r.number, was)
	}
	return nil
}

func readRecord(r io.Reader) (rec Record, more bool, err error) {
	var b [RecordBytes]byte
	switch _, err := io.ReadFull(r, b[:]); {
	case errors.Is(err, io.EOF):
		return rec, false, nil
	case err != nil:
		return rec, false, err
	}
	return parseRecord(b[:]), true, nil
}
