package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/venn-p2p/venn/node/keystore"

	ds "github.com/ipfs/go-datastore"
	"github.com/ipfs/go-datastore/namespace"
	"github.com/ipfs/go-datastore/query"

	"github.com/venn-p2p/venn/summary"
)

// Store is a keystore.Keys on a datastore. It also keeps the numbers of summaries, and the peers that a node knew. It
// is safe for concurrent use.
type Store struct {
	ds      ds.Batching
	tag     summary.SeedTag
	network summary.Seed
	hasher  summary.Hasher

	mirror *keystore.Mirror // fingerprints of all keys
	saved  *saved           // the filter on disk when the store was opened; nil: there was none
	length atomic.Int64

	changes  chan *change
	closing  chan struct{}
	closed   sync.Once
	done     chan struct{} // closed when the committer has ended
	failed   atomic.Pointer[error]
	doubted  map[string]held       // for the committer: the failed group's keys, with their state before it
	progress func(keys, about int) // nil: not called
	made     bool                  // Open made the store: there was none
	now      func() time.Time
	room     func(bytes int) error // nil: every write is allowed

	epochs epochs

	private *Store // store of the keys that are in no summary; nil in that store itself

	peersMu sync.Mutex
	peers   map[string]string // the peers on disk, encoded, by id
}

var (
	_ keystore.Keys  = (*Store)(nil)
	_ keystore.Lists = (*Store)(nil)
)

// Option sets one option of a store.
type Option func(*Store)

// WithRoom makes the store call room before each write, with the number of bytes. If room returns an error, nothing is
// written, that write fails with the error, and the store goes on. Default: everything is written.
func WithRoom(room func(bytes int) error) Option { return func(s *Store) { s.room = room } }

// WithProgress makes Open call progress while it reads all keys, as it must after a crash or for another seed. The
// first call is with 0 keys read, the others after each hundred thousand. about is the number of keys when the store
// was last opened or closed, 0 if unknown. Default: no calls.
func WithProgress(progress func(keys, about int)) Option {
	return func(s *Store) { s.progress = progress }
}

// Open opens the store in a datastore, and makes one if there is none. Fingerprints are those under seed, which may
// differ from the last run's. Close leaves the datastore open. The errors: ErrVersion, ErrDamaged, errors of the
// datastore and of the options' functions.
func Open(ctx context.Context, d ds.Batching, seed summary.Seed, opts ...Option) (*Store, error) {
	s, err := openOne(ctx, d, seed, opts)
	if err != nil {
		return nil, err
	}
	if s.private, err = openOne(ctx, namespace.Wrap(d, ds.NewKey(privatePrefix)), seed, append(slices.Clone(opts), WithProgress(nil))); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// openOne opens the store of public keys, or the store of private keys.
func openOne(ctx context.Context, d ds.Batching, seed summary.Seed, opts []Option) (*Store, error) {
	s := &Store{
		ds:      d,
		tag:     seed.Tag(),
		network: seed,
		hasher:  seed.Hasher(),
		changes: make(chan *change, 64),
		closing: make(chan struct{}),
		done:    make(chan struct{}),
		now:     time.Now,
	}
	for _, o := range opts {
		o(s)
	}
	for _, step := range []func(context.Context) error{s.openVersion, s.openEpochs, s.openFilter, s.openPeers, s.forgetSaved} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	go s.commit()
	return s, nil
}

func (s *Store) openVersion(ctx context.Context) error {
	v, err := s.ds.Get(ctx, versionName)
	switch {
	case errors.Is(err, ds.ErrNotFound):
		s.made = true
		return s.put(ctx, versionName, []byte(layoutVersion))
	case err != nil:
		return fmt.Errorf("store: %w", err)
	}
	return s.upgrade(ctx, string(v))
}

// upgrade brings a store of an older version to layoutVersion, one version at a time. A crash on the way leaves a
// whole store of one version.
func (s *Store) upgrade(ctx context.Context, from string) error {
	for v := from; v != layoutVersion; {
		step, ok := upgrades[v]
		if !ok {
			return fmt.Errorf("%w: it is %q, this program reads up to %s. %s", ErrVersion, from, layoutVersion, wayBack)
		}
		if err := step.do(ctx, s.ds); err != nil {
			return fmt.Errorf("store: from version %s to %s: %w", v, step.to, err)
		}
		if err := s.ds.Sync(ctx, ds.NewKey("/")); err != nil {
			return fmt.Errorf("store: %w", err)
		}
		if err := s.put(ctx, versionName, []byte(step.to)); err != nil {
			return err
		}
		v = step.to
	}
	return nil
}

// put writes one value and syncs it.
func (s *Store) put(ctx context.Context, name ds.Key, value []byte) error {
	if err := s.mayWrite(len(value)); err != nil {
		return err
	}
	if err := s.ds.Put(ctx, name, value); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return s.sync(ctx, name)
}

// mayWrite asks WithRoom's function whether a number of bytes of names and values may be written.
func (s *Store) mayWrite(bytes int) error {
	if s.room == nil {
		return nil
	}
	if err := s.room(bytes); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

func (s *Store) sync(ctx context.Context, name ds.Key) error {
	if err := s.ds.Sync(ctx, name); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// Close waits until the changes under way are written, and saves the filter, which makes the next Open fast. It does
// not close the datastore. Later changes fail with ErrClosed.
func (s *Store) Close() (err error) {
	s.closed.Do(func() {
		close(s.closing)
		<-s.done
		if s.failed.Load() == nil {
			err = s.save(context.Background())
		}
	})
	<-s.done
	if s.private != nil {
		err = errors.Join(err, s.private.Close())
	}
	return err
}

// Seed returns the seed of the fingerprints, as given to Open.
func (s *Store) Seed() summary.Seed { return s.network }

// Private returns the store of the keys that are in no summary. Close closes it too.
func (s *Store) Private() *Store { return s.private }

// Has reports whether key is held. The error is the datastore's.
func (s *Store) Has(key []byte) (bool, error) {
	if !s.mirror.Contains(s.hasher.Fingerprint(key)) {
		return false, nil
	}
	has, err := s.ds.Has(context.Background(), name(keysPrefix, key))
	if err != nil {
		return false, fmt.Errorf("store: %w", err)
	}
	return has, nil
}

// Len returns the number of keys; the error is always nil.
func (s *Store) Len() (int, error) { return s.Count(), nil }

// Count returns the number of keys.
func (s *Store) Count() int { return int(s.length.Load()) }

// Fault returns the error of the last write, also for private keys; nil if it succeeded. A failed write is repeated
// each second.
func (s *Store) Fault() error {
	var err error
	if failed := s.failed.Load(); failed != nil {
		err = *failed
	}
	if s.private != nil {
		err = errors.Join(err, s.private.Fault())
	}
	return err
}

// Fingerprints yields the fingerprints of the keys held when the iteration begins, each once.
func (s *Store) Fingerprints() iter.Seq[summary.Fingerprint] { return s.mirror.Fingerprints }

// Keys yields all keys, in no particular order. If there is an error, it yields it last.
func (s *Store) Keys(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		err := s.each(ctx, keysPrefix, true, func(key, _ []byte) bool { return yield(key, nil) })
		if err != nil {
			yield(nil, err)
		}
	}
}

// each calls f with each entry under a prefix, until f returns false.
func (s *Store) each(ctx context.Context, prefix string, namesOnly bool, f func(name, value []byte) bool) error {
	results, err := s.ds.Query(ctx, query.Query{Prefix: prefix, KeysOnly: namesOnly})
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer func() { _ = results.Close() }()
	for r, ok := results.NextSync(); ok && ctx.Err() == nil; r, ok = results.NextSync() {
		if r.Error != nil {
			return fmt.Errorf("store: %w", r.Error)
		}
		n, err := named(prefix, r.Key)
		if err != nil {
			return err
		}
		if !f(n, r.Value) {
			return nil
		}
	}
	return ctx.Err()
}
