package rank_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/venn-p2p/venn/overlay/rank"
)

// TestDraw: an audit asks for as many made-up keys as own ones, in order, so a peer gains nothing by one answer to all.
func TestDraw(t *testing.T) {
	var sample [][]byte
	for i := range 100 {
		sample = append(sample, fmt.Appendf(nil, "own%03d%03dkey", i, i))
	}
	owned := func(k []byte) bool {
		return slices.ContainsFunc(sample, func(s []byte) bool { return bytes.Equal(s, k) })
	}
	has := func(k []byte) (bool, error) { return owned(k), nil }
	q := rank.Draw(sample, owned, has)
	if len(q.Keys) != 2*rank.AuditKeys || !slices.IsSortedFunc(q.Keys, bytes.Compare) {
		t.Fatalf("%d keys, in order: %v", len(q.Keys), slices.IsSortedFunc(q.Keys, bytes.Compare))
	}
	for name, peer := range map[string]struct {
		holds        func(key []byte) bool
		hits, misses int
	}{
		"honest":   {owned, rank.AuditKeys, 0},
		"says no":  {func([]byte) bool { return false }, 0, rank.AuditKeys},
		"says yes": {func([]byte) bool { return true }, 0, rank.AuditKeys},
		"contrary": {func(k []byte) bool { return !owned(k) }, 0, rank.AuditKeys},
	} {
		var holds []bool
		for _, k := range q.Keys {
			holds = append(holds, peer.holds(k))
		}
		if hits, misses := q.Judge(holds); hits != peer.hits || misses != peer.misses {
			t.Errorf("%s: %d hits and %d misses, want %d and %d", name, hits, misses, peer.hits, peer.misses)
		}
	}
	few := rank.Draw(sample, func(k []byte) bool { return owned(k) && strings.HasPrefix(string(k), "own00") }, has)
	if len(few.Keys) != 20 {
		t.Errorf("%d keys where 10 of ours are claimed, want 20", len(few.Keys))
	}
	if none := rank.Draw(sample, func([]byte) bool { return false }, has); len(none.Keys) != 0 {
		t.Errorf("%d keys where nothing is claimed", len(none.Keys))
	}
	if none := rank.Draw(nil, owned, has); len(none.Keys) != 0 {
		t.Errorf("%d keys of no sample", len(none.Keys))
	}
	if unread := rank.Draw(sample, owned, func(k []byte) (bool, error) { return owned(k), errors.New("disk") }); len(unread.Keys) != 0 {
		t.Errorf("%d keys where the store cannot be read", len(unread.Keys))
	}
	if gone := rank.Draw(sample, owned, func([]byte) (bool, error) { return false, nil }); len(gone.Keys) != 0 {
		t.Errorf("%d keys where we hold none by now", len(gone.Keys))
	}
}
