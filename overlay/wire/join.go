package wire

import (
	"math"

	"github.com/venn-p2p/venn/summary/bloom"
)

// JoinRequest asks a join.Source for one of three things. With zero Params it asks for the size of the set. With
// Params and without Filter it asks for a filter of the set. With both it asks for the keys in the filter that
// follows in pieces.
type JoinRequest struct {
	Params bloom.Params
	Filter int // bytes of the filter's message that follows; 0: none follows
}

// Append appends the request. Its Params must have the default scheme.
func (r JoinRequest) Append(b []byte) []byte { return appendTo(b, r) }

// Size returns the number of bytes that Append appends.
func (r JoinRequest) Size() int { return sizeOf(r) }

func (r JoinRequest) fields(w *writer) {
	w.uint(1, r.Params.BlockBits)
	w.uint(2, uint64(r.Params.Blocks))
	w.uint(3, uint64(r.Params.Hashes))
	w.fixed64(4, r.Params.Hasher.K0)
	w.fixed64(5, r.Params.Hasher.K1)
	w.uint(6, uint64(r.Filter))
}

// ParseJoinRequest decodes a whole message. Params other than zero are valid, with at most MaxJoinBits bits.
func ParseJoinRequest(b []byte) (r JoinRequest, err error) {
	d := decode("join request", b, MaxJoinRequest)
	for d.next() {
		switch d.num {
		case 1:
			r.Params.BlockBits = d.uint(MaxJoinBits)
		case 2:
			r.Params.Blocks = d.int(math.MaxInt32)
		case 3:
			r.Params.Hashes = d.int(math.MaxInt32)
		case 4:
			r.Params.Hasher.K0 = d.fixed64()
		case 5:
			r.Params.Hasher.K1 = d.fixed64()
		case 6:
			r.Filter = d.int(MaxJoinFilter)
		}
	}
	if d.err == nil && r != (JoinRequest{}) {
		switch err := r.Params.Check(); {
		case err != nil:
			d.malformed("%v", err)
		case r.Params.Bits() > MaxJoinBits:
			d.fail(ErrLimit, "filter of %d bits, at most %d", r.Params.Bits(), MaxJoinBits)
		}
	}
	if d.err != nil {
		return JoinRequest{}, d.err
	}
	return r, nil
}

// JoinSize is the size of a set.
type JoinSize struct {
	Keys  int
	Bytes int // total length of all keys, with the lengths before them
}

// JoinPiece is a piece of a filter, or a piece of the answer to a JoinRequest.
type JoinPiece struct {
	Set    JoinSize // size of the set of the peer that answers
	Filter []byte   // the next bytes of the filter's message
	Keys   [][]byte // keys of 1 to MaxKey bytes each
	Final  bool     // this is the last piece
}

// Append appends the piece. The Filter must have at most MaxBatch bytes, and so must the keys with their
// lengths.
func (p JoinPiece) Append(b []byte) []byte { return appendTo(b, p) }

// Size returns the number of bytes that Append appends.
func (p JoinPiece) Size() int { return sizeOf(p) }

func (p JoinPiece) fields(w *writer) {
	w.uint(1, uint64(p.Set.Keys))
	w.uint(2, uint64(p.Set.Bytes))
	w.bytes(3, p.Filter)
	for _, k := range p.Keys {
		w.bytes(4, k)
	}
	w.bool(5, p.Final)
}

// ParseJoinPiece decodes a whole message.
func ParseJoinPiece(b []byte) (p JoinPiece, err error) {
	d := decode("join piece", b, MaxJoinPiece)
	for d.next() {
		switch d.num {
		case 1:
			p.Set.Keys = d.int(math.MaxInt32)
		case 2:
			p.Set.Bytes = d.int(math.MaxInt)
		case 3:
			p.Filter = d.bytes(1, MaxBatch)
		case 4:
			p.Keys = append(p.Keys, d.element(len(p.Keys), MaxBatch/3, 1, MaxKey))
		case 5:
			p.Final = d.bool()
		}
	}
	if d.err != nil {
		return JoinPiece{}, d.err
	}
	return p, nil
}
