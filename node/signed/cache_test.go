package signed

import (
	"errors"
	"fmt"
	"testing"
)

func TestCache(t *testing.T) {
	c := NewCache(4)
	calls := 0
	open := func(b []byte) (string, error) { calls++; return string(b), nil }
	for range 3 {
		for _, k := range []string{"a", "b"} {
			if got, err := cached(c, 10, []byte(k), open); got != k || err != nil {
				t.Fatal(got, err)
			}
		}
	}
	if calls != 2 {
		t.Errorf("%d calls for 2 envelopes", calls)
	}
	for i := range 100 {
		_, _ = cached(c, 10, []byte{byte(i)}, open)
	}
	if n := c.envelopes.Len(); n > 4 {
		t.Errorf("%d kept, at most 4", n)
	}
	calls = 0
	_, _ = cached(c, 2, []byte("too long"), open)
	_, _ = cached(c, 2, []byte("too long"), open)
	if calls != 2 {
		t.Error("an envelope over the limit is kept")
	}
}

// TestKeep: an envelope is kept without the message that it came in, once for all who keep it.
func TestKeep(t *testing.T) {
	c := NewCache(4)
	message := []byte("head envelope tail")
	envelope := message[5:13]
	alone := c.Keep(envelope)
	if string(alone) != "envelope" || &alone[0] == &envelope[0] {
		t.Errorf("%q is kept in its message", alone)
	}
	if _, err := cached(c, 10, envelope, func(b []byte) (string, error) { return string(b), nil }); err != nil {
		t.Fatal(err)
	}
	one, other := c.Keep(envelope), c.Keep([]byte("envelope"))
	if string(one) != "envelope" || &one[0] != &other[0] || &one[0] == &envelope[0] {
		t.Errorf("%q and %q are kept apart, or in the message", one, other)
	}
	if c.Keep(nil) != nil {
		t.Error("nothing became something")
	}
}

// TestSignature: a signature that was good is not verified again, a bad one is each time, and those kept are bounded.
func TestSignature(t *testing.T) {
	for _, entries := range []int{4, 200} {
		testSignature(t, NewCache(entries), 5*signaturesEach*entries)
	}
}

func testSignature(t *testing.T, c *Cache, many int) {
	calls := 0
	verify := func(origin string, message, signature []byte) error {
		if calls++; string(signature) != origin+string(message) {
			return errors.New("bad")
		}
		return nil
	}
	ask := func(origin, message, signature string) error {
		return c.Signature(origin, []byte(message), []byte(signature), verify)
	}
	for range 3 {
		if ask("a", "bc", "abc") != nil || ask("ab", "c", "abc") != nil {
			t.Fatal("a good signature is refused")
		}
		if ask("b", "bc", "abc") == nil || ask("a", "bd", "abc") == nil || ask("a", "bc", "abd") == nil {
			t.Fatal("a bad signature is taken")
		}
	}
	if calls != 2+3*3 {
		t.Errorf("%d verified, want the two good ones once and each bad one three times", calls)
	}
	for i := range many {
		m := fmt.Sprint(i)
		_ = ask("a", m, "a"+m)
	}
	n := c.signatures.Len()
	if most := many / 5; n > most || n < most/2 {
		t.Errorf("%d signatures kept of %d, at most %d", n, many, most)
	}
}
