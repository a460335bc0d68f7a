package sim

import (
	"bufio"
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

// Record is an entry of a trace: something that a peer did, in the order in which the simulator merged it. A
// trace has the records of a run one after the other, RecordBytes each, with the fields in order and big endian.
// The hash of a trace is its SHA-256.
type Record struct {
	At    time.Duration // time of the event; of a message, when it arrives
	Kind  uint8
	Peer  strategy.ID // the peer that caused the event
	Other strategy.ID // the other peer of the event
	Bytes uint32
	Query strategy.QueryID
}

// maxTime bounds the times in a trace: no run takes as long. A file of text, read as a trace, has later times.
const maxTime = 10 * MaxSession

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

var kindNames = [...]string{
	join: "joins", leave: "leaves", arrive: "sends to", receive: "receives from", bounce: "not delivered", wake: "wakes",
	start: "asks", dialled: "dials", accepted: "accepts", refused: "refused by", closed: "closes", linked: "linked by", handshake: "connects to",
	looked: "holds the key", missed: "lacks the key", found: "finds", done: "done", changed: "changes", killed: "killed", ended: "hears the end of", piece: "sends a packet to",
}

// What describes the kind of event in a few words.
func (r Record) What() string {
	if int(r.Kind) < len(kindNames) {
		return kindNames[r.Kind]
	}
	return "?"
}

// Records reads a trace. An error ends it; errors match [ErrTrace].
func Records(trace io.Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		in := bufio.NewReader(trace)
		for n := 0; ; n++ {
			r, more, err := readRecord(in)
			if n == 0 && !more && err == nil {
				err = io.ErrUnexpectedEOF // a run has records
			}
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

// tracer hashes records, and writes them if there is a writer.
type tracer struct {
	hash hash.Hash
	out  io.Writer // nil: records are only hashed
	err  error     // error of writing
}

// add hashes and writes whole records.
func (t *tracer) add(records []byte) {
	if len(records) == 0 {
		return
	}
	t.hash.Write(records)
	if t.out != nil && t.err == nil {
		_, t.err = t.out.Write(records)
	}
}

// end returns the trace's hash, and the error of writing it.
func (t *tracer) end() (string, error) { return hex.EncodeToString(t.hash.Sum(nil)), t.err }

// ErrTrace is matched by the errors of reading a trace.
var ErrTrace = errors.New("sim: bad trace")

func readRecord(r io.Reader) (rec Record, more bool, err error) {
	var b [RecordBytes]byte
	switch _, err := io.ReadFull(r, b[:]); {
	case errors.Is(err, io.EOF):
		return rec, false, nil
	case err != nil:
		return rec, false, err
	}
	if _, err = binary.Decode(b[:], binary.BigEndian, &rec); err != nil {
		return rec, false, err
	}
	if int(rec.Kind) >= len(kindNames) || rec.At < 0 || rec.At > maxTime {
		return rec, false, errors.New("no event: this is no trace")
	}
	return rec, true, nil
}
