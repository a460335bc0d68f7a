package signed

import "testing"

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
	if n := len(c.now) + len(c.old); n > 4 {
		t.Errorf("%d kept, at most 4", n)
	}
	calls = 0
	_, _ = cached(c, 2, []byte("too long"), open)
	_, _ = cached(c, 2, []byte("too long"), open)
	if calls != 2 {
		t.Error("an envelope over the limit is kept")
	}
}
