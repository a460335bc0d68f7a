package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync/atomic"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/cmd/venn/daemon"
	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node/httpapi"
	"github.com/venn-p2p/venn/node/store"
)

func backupCommand() *cli.Command {
	return &cli.Command{
		Name: "backup", Usage: "write the keys, private ones too, and the peers known to a file", ArgsUsage: "FILE",
		Description: "The daemon may run meanwhile. What it adds meanwhile may be in the file or not. The identity and the configuration are files of\n" +
			"their own in the peer's folder, identity.key and config.toml: keep copies of them, too. Which file has which key\n" +
			"(venn keys path) is not in it: venn keys add --from finds that out again.",
		Flags: []cli.Flag{jsonFlag("as a JSON object: keys, file")},
		Action: onRepo(func(ctx context.Context, c *cli.Command, r repo.Repo) error {
			name := c.Args().First()
			keys, err := writeBackup(ctx, c, r, name)
			if err != nil {
				return err
			}
			return say(c, backedUp{keys, name}, "%s in %s", keyCount(keys), name)
		}),
	}
}

// backedUp is the output of the commands backup and restore.
type backedUp struct {
	Keys int    `json:"keys"`
	File string `json:"file"`
}

// writeBackup writes a backup to a new file, whole or not at all, for its owner only. It returns the number of keys.
func writeBackup(ctx context.Context, c *cli.Command, r repo.Repo, name string) (keys int, err error) {
	if _, err := os.Lstat(name); err == nil {
		return 0, fmt.Errorf("%s is there already", name)
	}
	bar := newProgress(c.Root().ErrWriter, quietTime)
	defer bar.end()
	err = repo.MakeFile(name, 0o600, func(w io.Writer) error {
		var total atomic.Int64
		body, err := fetchBackup(ctx, c, r, func(keys int) { total.Store(int64(keys)) })
		if err != nil {
			return err
		}
		defer func() { _ = body.Close() }()
		in := io.TeeReader(body, w)
		keys, err = store.CheckBackup(in, func(keys int) {
			bar.update(stage{what: "keys", done: keys, total: max(keys, int(total.Load()))})
		})
		if _, fetchErr := io.Copy(io.Discard, in); errors.Is(fetchErr, io.ErrUnexpectedEOF) {
			err = broken(fetchErr)
		} else if fetchErr != nil {
			err = fetchErr
		}
		return err
	})
	return keys, err
}

// fetchBackup returns a backup that the daemon makes. If no daemon runs, this process reads the store: closing the
// backup then waits until the store is closed. It calls about with the number of keys.
func fetchBackup(ctx context.Context, c *cli.Command, r repo.Repo, about func(keys int)) (io.ReadCloser, error) {
	cl := clientOf(r)
	if s, err := get[httpapi.Status](ctx, cl, "status", nil); err == nil {
		about(s.Keys)
	}
	body, err := cl.do(ctx, http.MethodGet, "/api/v1/backup", nil, nil)
	if !errors.Is(err, errNoDaemon) {
		return body, err
	}
	cfg, err := r.Config()
	if err != nil {
		return nil, err
	}
	in, out := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = out.CloseWithError(daemon.Backup(ctx, r, out, about, logTo(c, cfg)))
	}()
	return ownBackup{in, ended}, nil
}

// ownBackup is a backup that this process makes in a goroutine. Close stops the goroutine, and waits for its end.
type ownBackup struct {
	*io.PipeReader
	ended <-chan struct{}
}

func (b ownBackup) Close() error {
	err := b.PipeReader.Close()
	<-b.ended
	return err
}

// logTo returns the log of a command that opens the store itself.
func logTo(c *cli.Command, cfg repo.Config) *slog.Logger {
	return newLog(c.Root().ErrWriter, cfg.Log, new(slog.LevelVar))
}

func restoreCommand() *cli.Command {
	return &cli.Command{
		Name: "restore", Usage: "make a store from a backup, for a peer without one", ArgsUsage: "FILE",
		Description: "No daemon may run. The summaries of the peer begin a new generation, so that others take them for newer than all before.",
		Flags:       []cli.Flag{jsonFlag("as a JSON object: keys, file")},
		Action: onRepo(func(ctx context.Context, c *cli.Command, r repo.Repo) error {
			cfg, err := r.Config()
			if err != nil {
				return err
			}
			name := c.Args().First()
			f, err := os.Open(name)
			if err != nil {
				return err
			}
			defer func() { _ = f.Close() }()
			info, err := f.Stat()
			if err != nil {
				return err
			}
			bar, read := newProgress(c.Root().ErrWriter, quietTime), 0
			in := telling{f, func(bytes int) { // the file is read twice: to check it, and to restore it
				read += bytes
				bar.update(stage{what: "restoring, kB", done: read / 1000, total: int(2 * info.Size() / 1000)})
			}}
			keys, err := daemon.Restore(ctx, r, struct {
				io.Reader
				io.Seeker
			}{in, f}, logTo(c, cfg))
			bar.end()
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return say(c, backedUp{keys, name}, "%s restored", keyCount(keys))
		}),
	}
}
