package daemon

import (
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	pebbleds "github.com/ipfs/go-ds-pebble"

	"github.com/venn-p2p/venn/cmd/venn/repo"
)

// openPebble opens the database of a repository. cache is the bytes of its cache.
func openPebble(r repo.Repo, cache int64, log *slog.Logger) (*pebbleds.Datastore, error) {
	opts := &pebble.Options{Logger: pebbleLog{r.Store(), log}}
	db, err := pebbleds.NewDatastore(r.Store(), pebbleds.WithPebbleOpts(opts), pebbleds.WithCacheSize(cache))
	if err != nil {
		return nil, fmt.Errorf("store %s cannot be opened; if it is damaged, %s: %w", r.Store(), remedy, oneLine{err})
	}
	return db, nil
}

const remedy = "put back a copy, or move it away to begin with no keys"

// pebbleLog has the database log what goes wrong, in a line. A database that cannot go on ends the process: what it was asked
// for has no answer, and what was acknowledged is on disk.
type pebbleLog struct {
	store string
	log   *slog.Logger
}

func (pebbleLog) Infof(string, ...any) {}

func (l pebbleLog) Errorf(format string, args ...any) {
	l.log.Error("store", "path", l.store, "err", firstLine(format, args))
}

func (l pebbleLog) Fatalf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "venn: store %s fails; if it is damaged, %s: %s\n", l.store, remedy, firstLine(format, args))
	os.Exit(1)
}

// oneLine is an error whose text may have several lines, as that of a manifest that names files that are gone.
type oneLine struct{ error }

func (e oneLine) Error() string { return strings.ReplaceAll(e.error.Error(), "\n", "; ") }
func (e oneLine) Unwrap() error { return e.error }

// firstLine leaves out stack traces.
func firstLine(format string, args []any) string {
	line, _, _ := strings.Cut(fmt.Sprintf(format, args...), "\n")
	return line
}
