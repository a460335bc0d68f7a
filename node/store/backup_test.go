package store

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/libp2p/go-libp2p/core/test"
)

// backedUp is a store with some keys, and its backup.
func backedUp(t testing.TB) (*Store, []byte) {
	t.Helper()
	s := open(t, memory())
	add(t, s, "a", "b", "c")
	add(t, s.Private(), "secret")
	id := must(test.RandPeerID())
	if err := s.SavePeers(t.Context(), []Peer{{ID: id, Neighbour: true, Record: []byte("record")}}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := s.Backup(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	return s, out.Bytes()
}

// TestBackup restores a store that went on after its backup: it has what it had then, and a later generation.
func TestBackup(t *testing.T) {
	s, b := backedUp(t)
	if n, err := CheckBackup(bytes.NewReader(b), nil); n != 4 || err != nil {
		t.Fatalf("%d keys, %v", n, err)
	}
	add(t, s, "later")
	last, err := s.NextEpoch()
	if err != nil {
		t.Fatal(err)
	}
	d := memory()
	if err := Restore(t.Context(), d, bytes.NewReader(b)); err != nil {
		t.Fatal(err)
	}
	r := open(t, d)
	if got := keysIn(t, r); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("keys %q", got)
	}
	if got := keysIn(t, r.Private()); !slices.Equal(got, []string{"secret"}) {
		t.Errorf("private keys %q", got)
	}
	if !samePeers(r.Peers(), s.Peers()) {
		t.Errorf("peers %v", r.Peers())
	}
	if e, err := r.NextEpoch(); err != nil || e.Generation <= last.Generation {
		t.Errorf("%v after %v, %v", e, last, err)
	}
	if err := Restore(t.Context(), d, bytes.NewReader(b)); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("over a store: %v", err)
	}
}

// TestBadBackups: no backup that was cut or changed is taken. One of another version is named as such.
func TestBadBackups(t *testing.T) {
	_, b := backedUp(t)
	for i := range b {
		if _, err := CheckBackup(bytes.NewReader(b[:i]), nil); !errors.Is(err, ErrBackup) {
			t.Fatalf("the first %d of %d bytes: %v", i, len(b), err)
		}
		changed, want := bytes.Clone(b), ErrBackup
		changed[i] ^= 1
		if i >= len(backupKind) && i < len(backupMagic) {
			want = ErrVersion
		}
		if _, err := CheckBackup(bytes.NewReader(changed), nil); !errors.Is(err, want) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
	if _, err := CheckBackup(bytes.NewReader(append(b, 0)), nil); !errors.Is(err, ErrBackup) {
		t.Errorf("a byte more: %v", err)
	}
}

// FuzzCheckBackup reads anything without panic.
func FuzzCheckBackup(f *testing.F) {
	_, b := backedUp(f)
	f.Add(b)
	f.Add([]byte(backupMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := CheckBackup(bytes.NewReader(b), nil); err != nil && !errors.Is(err, ErrBackup) && !errors.Is(err, ErrVersion) {
			t.Error(err)
		}
	})
}
