package bloom

import (
	"encoding/binary"
	"testing"

	"github.com/dchest/siphash"
)

// The slow twin with the rounds of SipHash-2-4 agrees with a published implementation, so that with 1-3 it is a
// witness.
func TestHash(t *testing.T) {
	data := make([]byte, 70)
	for i := range data {
		data[i] = byte(i)
	}
	k := Hasher{binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])}
	for n := range data {
		v := slowSipState(k, data[:n], 2, 4)
		if got, want := v[0]^v[1]^v[2]^v[3], siphash.Hash(k.K0, k.K1, data[:n]); got != want {
			t.Fatalf("slow SipHash-2-4 of %d bytes = %x, want %x", n, got, want)
		}
		a, b := slowSip(k, data[:n])
		if got := k.Hash(data[:n]); got != (Hash{a, b}) {
			t.Fatalf("Hash of %d bytes = %x, want %x, %x", n, got, a, b)
		}
	}
	if k.Hash(data) == (Hasher{}).Hash(data) {
		t.Error("the key does not matter")
	}
}
