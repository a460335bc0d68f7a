package main

import (
	"context"
	"errors"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/cmd/venn/repo"
)

// errNone means that the key or peer looked for was not found. A command that returns it alone has printed a message.
var errNone = errors.New("nobody has it")

// notFoundError means that the daemon does not know the peer or key of a request. It matches errNone.
type notFoundError struct{ error }

// Is makes the error match errNone, for the same exit code.
func (notFoundError) Is(target error) bool { return target == errNone } //nolint:errorlint // it is what errors.Is compares

// nodeCommands returns the commands for a peer of the user's own.
func nodeCommands() []*cli.Command {
	return []*cli.Command{
		initCommand(), daemonCommand(), keysCommand(), findCommand(), peersCommand(), mirrorCommand(), similarCommand(), overlapCommand(),
		coverCommand(), joinCommand(), connectCommand(), disconnectCommand(), pingCommand(), watchCommand(), statusCommand(), idCommand(),
		configCommand(), topCommand(), doctorCommand(), logCommand(), shutdownCommand(), backupCommand(), restoreCommand(),
	}
}

func repoFlag() cli.Flag {
	return &cli.StringFlag{Name: "repo", Usage: "the peer's folder (default: $VENN_PATH, or ~/.venn)", TakesFile: true}
}

func jsonFlag(of string) cli.Flag { return &cli.BoolFlag{Name: "json", Usage: of} }

// folder returns the folder of the repository that the command line or the environment names, or else the default.
func folder(c *cli.Command) (string, error) {
	if dir := c.String("repo"); dir != "" {
		return dir, nil
	}
	return repo.Default()
}

func openRepo(c *cli.Command) (repo.Repo, error) {
	dir, err := folder(c)
	if err != nil {
		return repo.Repo{}, err
	}
	return repo.Open(dir)
}

// onRepo returns the action of a command that opens the repository.
func onRepo(f func(context.Context, *cli.Command, repo.Repo) error) cli.ActionFunc {
	return func(ctx context.Context, c *cli.Command) error {
		r, err := openRepo(c)
		if err != nil {
			return err
		}
		return f(ctx, c, r)
	}
}

// group is the action of a command that only has subcommands.
func group(ctx context.Context, c *cli.Command) error {
	if name := c.Args().First(); name != "" {
		return noCommand(name, c.FullName())
	}
	return cli.ShowSubcommandHelp(c)
}
