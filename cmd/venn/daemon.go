package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"slices"
	"strings"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/cmd/venn/daemon"
	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node/httpapi"
)

func initCommand() *cli.Command {
	return &cli.Command{
		Name:  "init",
		Usage: "make a peer: a folder with its identity and its configuration",
		Description: "In ~/.venn it is the one that listens to peers on port 4101. Where another program has that, the daemon takes another\n" +
			"port, the same each time, and says so. In other folders (--repo or VENN_PATH) the ports are free ones, chosen now and\n" +
			"kept. So several peers run side by side.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "local", Usage: "for peers on this machine only: listen on loopback, no multicast DNS, no port mapping"},
			jsonFlag("as a JSON object"),
		},
		Action: func(_ context.Context, c *cli.Command) error {
			dir, err := folder(c)
			if err != nil {
				return err
			}
			r, err := repo.Init(dir, func(cfg *repo.Config) {
				if c.Bool("local") {
					cfg.Local()
				}
			})
			if err != nil {
				return err
			}
			id, err := ownID(r)
			if err != nil {
				return err
			}
			return say(c, map[string]string{"id": id.String(), "repo": dir}, "peer %s in %s\nstart it with `venn daemon%s`", id, dir, r.Option())
		},
	}
}

func daemonCommand() *cli.Command {
	return &cli.Command{
		Name:  "daemon",
		Usage: "run the peer until Ctrl-C",
		Description: "What it prints on standard output comes once it serves. Logs go to standard error.\n" +
			"Commands reach it through a socket in its folder, which only its owner can open.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "bootstrap", Usage: "`MULTIADDR` with /p2p/ID of a peer to connect to, besides those of the configuration; may be repeated"},
			&cli.BoolFlag{Name: "init", Usage: "make the peer first, as venn init does, if there is none"},
			&cli.StringFlag{Name: "identity-from", Usage: "with --init, give a new peer the identity in `FILE`, a copy of an identity.key, if there is such a file"},
			&cli.StringFlag{Name: "place", Usage: "label of where this peer is, as `ZONE/RACK`, in place of mirror.place"},
			jsonFlag("what comes on standard output as a JSON object"),
		},
		Action: runDaemon,
	}
}

// openOrInit opens the repository. With --init it makes the repository first if there is none.
func openOrInit(c *cli.Command) (repo.Repo, error) {
	r, err := openRepo(c)
	if !c.Bool("init") || !errors.Is(err, repo.ErrNone) {
		return r, err
	}
	if name := c.String("identity-from"); name != "" {
		key, err := repo.ReadIdentity(name)
		if !errors.Is(err, fs.ErrNotExist) {
			if err != nil {
				return r, err
			}
			return repo.InitAs(r.Dir, key)
		}
	}
	return repo.Init(r.Dir)
}

func runDaemon(ctx context.Context, c *cli.Command) error {
	r, err := openOrInit(c)
	if err != nil {
		return err
	}
	cfg, err := r.Config()
	if err != nil {
		return err
	}
	level := new(slog.LevelVar)
	o := daemon.Options{Place: c.String("place"), Version: buildVersion().Version, Log: newLog(c.Root().ErrWriter, cfg.Log, level), Level: level}
	for _, text := range c.StringSlice("bootstrap") {
		info, err := peer.AddrInfoFromString(text)
		if err != nil {
			return usageError(fmt.Errorf("--bootstrap %q is no multiaddr with /p2p/ID; `venn id` prints those of a peer", text))
		}
		o.Bootstrap = append(o.Bootstrap, *info)
	}
	o.Ready = func(s daemon.Started) { _ = show(c, s, func(w io.Writer) error { return printStarted(w, s) }) }
	if err := daemon.Run(ctx, r, o); err != nil {
		return err
	}
	o.Log.Info("stopped")
	return nil
}

func printStarted(w io.Writer, s daemon.Started) error {
	fmt.Fprintf(w, "peer %s with %s listens on\n", s.ID, keyCount(s.Keys))
	for _, a := range s.Addresses {
		fmt.Fprintf(w, "  %s\n", a)
	}
	if s.HTTP != "" {
		fmt.Fprintf(w, "and to programs on %s; look at %s/ui/\n", s.HTTP, s.HTTP)
	}
	if s.Mirror != "" {
		fmt.Fprintf(w, "and to clients of the mirror on %s\n", s.Mirror)
	}
	_, err := fmt.Fprintln(w, "ready; Ctrl-C ends it")
	return err
}

// newLog returns a log that writes to w the messages of the given level or a higher one. The level may change later.
func newLog(w io.Writer, cfg repo.Log, level *slog.LevelVar) *slog.Logger {
	_ = level.UnmarshalText([]byte(cfg.Level)) // the configuration was checked
	options := &slog.HandlerOptions{Level: level}
	if cfg.Format == "json" {
		options.ReplaceAttr = func(_ []string, a slog.Attr) slog.Attr {
			if a.Value.Kind() == slog.KindDuration { // write durations with a unit, as in logs of text
				a.Value = slog.StringValue(a.Value.Duration().String())
			}
			return a
		}
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

func idCommand() *cli.Command {
	return &cli.Command{
		Name:        "id",
		Usage:       "print the peer's id and the addresses it is reached at",
		Description: "Without a running daemon, there are no addresses.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "address", Usage: "print only the address at which others most likely reach the peer, for connect and --bootstrap"},
			jsonFlag("as a JSON object: id, addresses"),
		},
		Action: onDaemon(func(ctx context.Context, c *cli.Command, cl *client) error {
			id, err := identity(ctx, cl)
			if err != nil {
				return err
			}
			if !c.Bool("address") {
				return say(c, id, "%s", strings.Join(append([]string{id.ID}, id.Addresses...), "\n"))
			}
			if len(id.Addresses) == 0 {
				return errors.New("the peer has no address: no daemon is running")
			}
			return say(c, id, "%s", likeliest(id.Addresses))
		}),
	}
}

// likeliest returns the first address that other machines may reach, one by IPv4 before others; loopback comes last.
func likeliest(addresses []string) string {
	near := func(address string) int {
		switch a, err := multiaddr.NewMultiaddr(address); {
		case err == nil && manet.IsIPLoopback(a):
			return 2
		case strings.HasPrefix(address, "/ip4/"):
			return 0
		}
		return 1
	}
	return slices.MinFunc(addresses, func(a, b string) int { return near(a) - near(b) })
}

// identity asks the daemon for the peer's id and addresses. If no daemon runs, it reads the id from the identity file.
func identity(ctx context.Context, cl *client) (id httpapi.ID, err error) {
	if id, err = get[httpapi.ID](ctx, cl, "id", nil); !errors.Is(err, errNoDaemon) {
		return id, err
	}
	own, err := ownID(cl.repo)
	return httpapi.ID{ID: own.String(), Addresses: []string{}}, err
}

// ownID returns the id of a repository's peer.
func ownID(r repo.Repo) (peer.ID, error) {
	key, err := r.Identity()
	if err != nil {
		return "", err
	}
	return peer.IDFromPrivateKey(key)
}
