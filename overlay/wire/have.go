package wire

import "fmt"

const (
	MaxKey        = 1024                // bytes of a key
	MaxHaveKeys   = 256                 // keys in a HaveRequest
	MaxHave       = 64 << 10            // bytes of a HaveRequest
	MaxHaveAnswer = 128 + MaxHaveKeys/8 // bytes of a HaveAnswer
)

// HaveFits returns how many of the keys, from the first on, one HaveRequest carries. It is at least one if the first
// has at most MaxKey bytes.
func HaveFits(keys [][]byte) int {
	size := 0
	for i, k := range keys {
		size += sizeBytes(len(k))
		if i == MaxHaveKeys || size > MaxHave {
			return i
		}
	}
	return len(keys)
}

// AppendHaveRequest appends the question which of the keys the receiver holds. There must be as many as HaveFits says.
func AppendHaveRequest(b []byte, keys [][]byte) []byte {
	for _, k := range keys {
		b = appendBytes(b, 1, k)
	}
	return b
}

// ParseHaveRequest reads a whole message.
func ParseHaveRequest(b []byte) (keys [][]byte, err error) {
	d := decode("have request", b, MaxHave)
	for d.next() {
		if d.num == 1 {
			keys = append(keys, d.element(len(keys), MaxHaveKeys, 1, MaxKey))
		}
	}
	if len(keys) == 0 {
		d.malformed("no key")
	}
	if d.err != nil {
		return nil, d.err
	}
	return keys, nil
}

// AppendHaveAnswer appends the answer: has[i] says whether key i is held.
func AppendHaveAnswer(b []byte, has []bool) []byte {
	bitmap := make([]byte, (len(has)+7)/8)
	for i, h := range has {
		if h {
			bitmap[i/8] |= 1 << (i % 8)
		}
	}
	return appendBytes(b, 1, bitmap)
}

// ParseHaveAnswer reads the whole answer to a request of the given number of keys.
func ParseHaveAnswer(b []byte, keys int) ([]bool, error) {
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
	has := make([]bool, keys)
	for i := range has {
		has[i] = bitmap[i/8]>>(i%8)&1 == 1
	}
	return has, nil
}
