package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"

	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node/store"
)

// Backup writes the contents of a repository's store to w, in the form of package store. No daemon may run on the
// repository. It first calls opened with the number of keys.
func Backup(ctx context.Context, r repo.Repo, w io.Writer, opened func(keys int), log *slog.Logger) (err error) {
	var d daemon
	if err := d.take(r, log); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if err := d.openStore(ctx); err != nil {
		return err
	}
	opened(d.store.Count() + d.store.Private().Count())
	return d.store.Backup(ctx, w)
}

// Restore makes a store from a backup, for a repository without a store: whole, or not at all. It returns the number
// of keys in the store.
func Restore(ctx context.Context, r repo.Repo, backup io.ReadSeeker, log *slog.Logger) (keys int, err error) {
	var d daemon
	if err := d.take(r, log); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if _, err := os.Lstat(r.Store()); !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("there is a store already: move %s away first", r.Store())
	}
	if keys, err = store.CheckBackup(backup, nil); err != nil {
		return 0, err
	}
	if _, err := backup.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	made := r.Store() + ".new"
	if err := os.RemoveAll(made); err != nil { // left by a restore that was interrupted
		return 0, err
	}
	if err := os.Mkdir(made, 0o700); err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(made)
		}
	}()
	db, err := openPebble(made, nil, d.cfg.Limits.Cache, log)
	if err != nil {
		return 0, err
	}
	if err := errors.Join(store.Restore(ctx, db, backup), db.Close()); err != nil {
		return 0, err
	}
	if _, err := r.OpenRemovals(true); err != nil { // a new mark: keys given after the backup are not in the store
		return 0, err
	}
	if err := os.Rename(made, r.Store()); err != nil {
		return 0, err
	}
	return keys, repo.SyncFolder(r.Dir)
}
