package wire

import "fmt"

// HaveFits returns the number of keys, from the first on, that fit into one HaveRequest. It is at least one if
// there are keys and the first has at most MaxKey bytes.
func HaveFits(keys [][]byte) int {
	size := HaveRequest{Private: true}.Size()
	for i, k := range keys {
		size += sizeBytes(len(k))
		if i == MaxHaveKeys || size > MaxHave {
			return i
		}
	}
	return len(keys)
}

// HaveRequest asks which of some keys the receiver holds.
type HaveRequest struct {
	Keys [][]byte
	// Private asks for private keys, too. Then the asker's owner asks: others for whom a peer may ask must not learn of
	// private keys.
	Private bool
}

// Append appends the message to b. There must be no more keys than HaveFits returns.
func (q HaveRequest) Append(b []byte) []byte { return appendTo(b, q) }

// Size returns the number of bytes that Append appends.
func (q HaveRequest) Size() int { return sizeOf(q) }

func (q HaveRequest) fields(w *writer) {
	for _, k := range q.Keys {
		w.bytes(1, k)
	}
	w.bool(2, q.Private)
}

// ParseHaveRequest decodes a whole message.
func ParseHaveRequest(b []byte) (q HaveRequest, err error) {
	d := decode("have request", b, MaxHave)
	for d.next() {
		switch d.num {
		case 1:
			q.Keys = append(q.Keys, d.element(len(q.Keys), MaxHaveKeys, 1, MaxKey))
		case 2:
			q.Private = d.bool()
		}
	}
	if len(q.Keys) == 0 {
		d.lacks("no key")
	}
	if d.err != nil {
		return HaveRequest{}, d.err
	}
	return q, nil
}

// HaveAnswer reports for each key of a [HaveRequest] whether it is held.
type HaveAnswer []bool

// Append appends the answer: has[i] reports whether key i is held.
func (has HaveAnswer) Append(b []byte) []byte { return appendTo(b, has) }

// Size returns the number of bytes that Append appends.
func (has HaveAnswer) Size() int { return sizeOf(has) }

func (has HaveAnswer) fields(w *writer) {
	bitmap := make([]byte, (len(has)+7)/8)
	for i, h := range has {
		if h {
			bitmap[i/8] |= 1 << (i % 8)
		}
	}
	w.bytes(1, bitmap)
}

// ParseHaveAnswer decodes the whole answer to a request of the given number of keys, which must be 1 to
// MaxHaveKeys.
func ParseHaveAnswer(b []byte, keys int) (HaveAnswer, error) {
	if keys < 1 || keys > MaxHaveKeys {
		panic(fmt.Sprintf("wire: answer to a request of %d keys", keys))
	}
	var bitmap []byte
	d := decode("have answer", b, MaxHaveAnswer)
	for d.next() {
		if d.num == 1 {
			bitmap = d.bytes((keys+7)/8, (keys+7)/8)
		}
	}
	d.required(1)
	if d.err == nil && keys%8 != 0 && bitmap[len(bitmap)-1]>>(keys%8) != 0 {
		d.malformed("unused bits set")
	}
	if d.err != nil {
		return nil, d.err
	}
	has := make(HaveAnswer, keys)
	for i := range has {
		has[i] = bitmap[i/8]>>(i%8)&1 == 1
	}
	return has, nil
}
