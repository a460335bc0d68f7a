package daemon

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	pebbleds "github.com/ipfs/go-ds-pebble"
)

// flushPause is the time that the database waits after a failed flush before it tries again.
const flushPause = 200 * time.Millisecond

// openPebble opens the database in a folder. fs is its file system, nil the system's. cache is the size of its cache
// in bytes.
func openPebble(dir string, fs vfs.FS, cache int64, log *slog.Logger) (*pebbleds.Datastore, error) {
	logger := &pebbleLog{store: dir, log: log}
	opts := &pebble.Options{FS: fs, Logger: logger, EventListener: &pebble.EventListener{
		BackgroundError: func(err error) {
			logger.Errorf("background error: %s", err)
			// without the pause it would try again at once, some thousand times a second while the disk is full
			time.Sleep(flushPause)
		},
	}}
	db, err := pebbleds.NewDatastore(dir, pebbleds.WithPebbleOpts(opts), pebbleds.WithCacheSize(cache))
	if err != nil {
		return nil, fmt.Errorf("store %s cannot be opened; if it is damaged, %s: %w", dir, remedy, oneLine{err})
	}
	return db, nil
}

const remedy = "put back a copy, or move it away to begin with no keys"

// closePebble closes the database, and gives up once the time patience has passed. On a full disk pebble would try for
// ever to flush its memory. The unflushed data is also in its log, which the next start reads. After giving up, the
// process should end.
func closePebble(db *pebbleds.Datastore, patience time.Duration, log *slog.Logger) error {
	done := make(chan error, 1)
	go func() { done <- db.Close() }()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		log.Warn("the store cannot write out all it has; the next start reads its log")
		return nil
	}
}

// errorsEvery is the least time between two errors that are logged.
const errorsEvery = 10 * time.Second

// pebbleLog logs the database's errors, at most one every errorsEvery. A database that cannot go on ends the
// process. Then open requests get no answer, but all changes that it acknowledged are on disk.
type pebbleLog struct {
	store string
	log   *slog.Logger

	mu   sync.Mutex
	said time.Time
	more int // errors since then, which were not logged
}

func (*pebbleLog) Infof(string, ...any) {}

func (l *pebbleLog) Errorf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.said) < errorsEvery {
		l.more++
		return
	}
	l.log.Error("store", "path", l.store, "err", firstLine(format, args), "others_before", l.more)
	l.said, l.more = time.Now(), 0
}

func (l *pebbleLog) Fatalf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "venn: store %s fails; if it is damaged, %s: %s\n", l.store, remedy, firstLine(format, args))
	os.Exit(1)
}

// oneLine formats an error on one line. Its own text may have several, as for a manifest that names missing files.
type oneLine struct{ error }

func (e oneLine) Error() string { return strings.ReplaceAll(e.error.Error(), "\n", "; ") }
func (e oneLine) Unwrap() error { return e.error }

// firstLine returns the first line of a message, without the stack trace after it.
func firstLine(format string, args []any) string {
	line, _, _ := strings.Cut(fmt.Sprintf(format, args...), "\n")
	return line
}
