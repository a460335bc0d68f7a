package store

import (
	"context"
	"fmt"
	"time"

	ds "github.com/ipfs/go-datastore"

	"github.com/venn-p2p/venn/summary"
)

// maxGroup is the approximate limit of keys in one batch.
const maxGroup = 1 << 15

// change holds keys to add or to remove, and the channel on which their sender waits.
type change struct {
	keys   [][]byte
	fps    []summary.Fingerprint
	remove bool

	changed int // number of keys that were added or removed
	err     error
	done    chan struct{}
}

// Add adds keys with their fingerprints and returns the number of new ones. The keys are on disk when Add returns. The
// errors: ErrClosed, ErrFailed, errors of the datastore, and package counting's if more than four keys share a
// fingerprint. After the latter, the keys before the faulty one are held, unless the datastore failed.
func (s *Store) Add(keys [][]byte, fps []summary.Fingerprint) (added int, err error) {
	return s.change(&change{keys: keys, fps: fps})
}

// Remove removes keys and returns the number that were held. The change is on disk when Remove returns. The errors:
// ErrClosed, ErrFailed, errors of the datastore.
func (s *Store) Remove(keys [][]byte) (removed int, err error) {
	fps := make([]summary.Fingerprint, len(keys))
	for i, k := range keys {
		fps[i] = s.hasher.Fingerprint(k)
	}
	return s.change(&change{keys: keys, fps: fps, remove: true})
}

// change hands a change to the committer and waits for it.
func (s *Store) change(c *change) (int, error) {
	c.done = make(chan struct{})
	select {
	case s.changes <- c:
	case <-s.closing:
		return 0, ErrClosed
	}
	select {
	case <-c.done:
		return c.changed, c.err
	case <-s.done: // the committer ended; it may have done c before
		select {
		case <-c.done:
			return c.changed, c.err
		default:
			return 0, ErrClosed
		}
	}
}

// retryEvery is the time between attempts to repeat a failed write while no other change comes.
const retryEvery = time.Second

// commit writes changes until the store closes. It writes changes that wait at the same time in one batch.
func (s *Store) commit() {
	defer close(s.done)
	retry := time.NewTicker(retryEvery)
	defer retry.Stop()
	for {
		select {
		case <-retry.C:
			_ = s.recover(context.Background())
		case c := <-s.changes:
			s.commitGroup(s.gather(c))
		case <-s.closing:
			return
		}
	}
}

// gather returns a change with the other changes that wait, up to about maxGroup keys.
func (s *Store) gather(c *change) []*change {
	group, keys := []*change{c}, len(c.keys)
	for keys < maxGroup {
		select {
		case c = <-s.changes:
			group, keys = append(group, c), keys+len(c.keys)
		default:
			return group
		}
	}
	return group
}

// commitGroup writes changes in one batch, and syncs it before it answers their senders.
func (s *Store) commitGroup(group []*change) {
	err := s.mayWrite(nameBytes(group))
	if err == nil {
		err = s.write(group)
	}
	for _, c := range group {
		if err != nil {
			c.changed, c.err = 0, err
		}
		close(c.done)
	}
}

// nameBytes returns the approximate number of bytes of the names of a group's keys in the datastore.
func nameBytes(group []*change) (n int) {
	for _, c := range group {
		for _, k := range c.keys {
			n += len(keysPrefix) + 2 + 4*len(k)/3
		}
	}
	return n
}

// write writes a group of changes. After a failed write, it first makes sure of the state that this write left.
func (s *Store) write(group []*change) error {
	if err := s.recover(context.Background()); err != nil {
		return err
	}
	g := groupWriter{s: s, ctx: context.Background(), present: make(map[string]bool), before: make(map[string]held)}
	if err := g.write(group); err != nil {
		s.mirror.Remove(g.added...)
		s.doubted = g.before
		return s.fail(err)
	}
	s.mirror.Remove(g.removed...)
	s.length.Add(int64(g.grown))
	return nil
}

// groupWriter writes a group of changes.
type groupWriter struct {
	s       *Store
	ctx     context.Context
	batch   ds.Batch
	present map[string]bool       // whether each key is held after the changes of this group
	before  map[string]held       // state of these keys before the group
	added   []summary.Fingerprint // fingerprints added to the mirror
	removed []summary.Fingerprint // fingerprints to remove from the mirror
	grown   int                   // keys added less keys removed
}

// held is a key's state before a group of changes: its fingerprint, and whether it was held.
type held struct {
	fp  summary.Fingerprint
	was bool
}

// fail records that a write failed with err, and returns err wrapped in ErrFailed.
func (s *Store) fail(err error) error {
	err = fmt.Errorf("%w: %w", ErrFailed, err)
	s.failed.Store(&err)
	return err
}

// recover repeats a failed write. It reads the present state of the failed group's keys and writes the same state
// again, because what is visible now may still be lost in a crash.
func (s *Store) recover(ctx context.Context) error {
	if s.failed.Load() == nil {
		return nil
	}
	batch, err := s.ds.Batch(ctx)
	if err != nil {
		return s.fail(err)
	}
	now := make(map[string]bool, len(s.doubted))
	for k := range s.doubted {
		at := name(keysPrefix, []byte(k))
		if now[k], err = s.ds.Has(ctx, at); err != nil {
			return s.fail(err)
		}
		if now[k] {
			err = batch.Put(ctx, at, nil)
		} else {
			err = batch.Delete(ctx, at)
		}
		if err != nil {
			return s.fail(err)
		}
	}
	if err := batch.Commit(ctx); err != nil {
		return s.fail(err)
	}
	if err := s.ds.Sync(ctx, ds.NewKey(keysPrefix)); err != nil {
		return s.fail(err)
	}
	for k, before := range s.doubted {
		switch {
		case now[k] && !before.was:
			if err := s.mirror.Add(before.fp); err != nil {
				return s.fail(err)
			}
			s.length.Add(1)
		case !now[k] && before.was:
			s.mirror.Remove(before.fp)
			s.length.Add(-1)
		}
		delete(s.doubted, k)
	}
	s.failed.Store(nil)
	return nil
}

// write puts the changes of a group into one batch, then commits and syncs it.
func (g *groupWriter) write(group []*change) (err error) {
	if g.batch, err = g.s.ds.Batch(g.ctx); err != nil {
		return err
	}
	for _, c := range group {
		if err := g.change(c); err != nil {
			return err
		}
	}
	if len(g.present) == 0 {
		return nil
	}
	if err := g.batch.Commit(g.ctx); err != nil {
		return err
	}
	return g.s.ds.Sync(g.ctx, ds.NewKey(keysPrefix))
}

// change puts one change into the batch. An error of the mirror is only this change's: it goes to the sender in c.err.
func (g *groupWriter) change(c *change) error {
	for i, k := range c.keys {
		has, err := g.has(k, c.fps[i])
		if err != nil {
			return err
		}
		if has != c.remove {
			continue
		}
		if c.remove {
			err = g.remove(k, c.fps[i])
		} else if c.err = g.s.mirror.Add(c.fps[i]); c.err == nil {
			g.added = append(g.added, c.fps[i])
			err = g.add(k, c.fps[i])
		}
		if err != nil {
			return err
		}
		if c.err != nil {
			c.err = fmt.Errorf("store: key number %d: %w", i, c.err)
			return nil
		}
		c.changed++
	}
	return nil
}

// has reports whether a key is held after the changes that this group made so far.
func (g *groupWriter) has(key []byte, f summary.Fingerprint) (bool, error) {
	if p, ok := g.present[string(key)]; ok {
		return p, nil
	}
	if !g.s.mirror.Contains(f) {
		return false, nil
	}
	return g.s.ds.Has(g.ctx, name(keysPrefix, key))
}

// becomes records the state of a key after the group, and before it if that is not recorded yet.
func (g *groupWriter) becomes(key []byte, f summary.Fingerprint, present bool) {
	if _, ok := g.present[string(key)]; !ok {
		g.before[string(key)] = held{f, !present}
	}
	g.present[string(key)] = present
}

func (g *groupWriter) add(key []byte, f summary.Fingerprint) error {
	g.becomes(key, f, true)
	g.grown++
	return g.batch.Put(g.ctx, name(keysPrefix, key), nil)
}

func (g *groupWriter) remove(key []byte, f summary.Fingerprint) error {
	g.becomes(key, f, false)
	g.removed = append(g.removed, f)
	g.grown--
	return g.batch.Delete(g.ctx, name(keysPrefix, key))
}
