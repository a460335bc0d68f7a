package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node/bounded"
	"github.com/venn-p2p/venn/node/httpapi"
)

func configCommand() *cli.Command {
	return &cli.Command{
		Name: "config", Usage: "look at or change the configuration; a daemon reads it when it starts",
		Action: group,
		Commands: []*cli.Command{
			{
				Name: "show", Usage: "print all keys, with their meaning and what the environment overrides",
				Flags: []cli.Flag{jsonFlag("as a JSON object")},
				Action: onRepo(func(_ context.Context, c *cli.Command, r repo.Repo) error {
					cfg, err := r.Config()
					if err != nil {
						return err
					}
					return show(c, cfg.Map(), func(w io.Writer) error { _, err := io.WriteString(w, cfg.String()); return err })
				}),
			},
			{
				Name: "get", Usage: "print the value of a key, named section.key", ArgsUsage: "KEY",
				Flags: []cli.Flag{jsonFlag("the value in JSON")},
				Action: onRepo(func(_ context.Context, c *cli.Command, r repo.Repo) error {
					cfg, err := r.Config()
					if err != nil {
						return err
					}
					value, err := cfg.Value(c.Args().First())
					if err != nil {
						return usageError(err)
					}
					text, _ := cfg.Get(c.Args().First()) // no error: Value has found the key
					return say(c, value, "%s", text)
				}),
			},
			{
				Name: "set", Usage: "set a key, named section.key", ArgsUsage: "KEY VALUE",
				Description: "VALUE is written as config show and config get print it. The elements of a list may also stand with commas between\n" +
					"them, without brackets and quotes. Rates may have a unit (20mbit), and so may bytes (64MiB). Comments of your own in\n" +
					"the file are not kept.",
				Flags:  []cli.Flag{jsonFlag("as a JSON object: key, value, restart (whether a running daemon has to be started again)")},
				Action: changeConfig(func(cfg *repo.Config, args cli.Args) error { return cfg.Set(args.Get(0), args.Get(1)) }),
			},
			{
				Name: "unset", Usage: "give a key, named section.key, its default", ArgsUsage: "KEY",
				Flags:  []cli.Flag{jsonFlag("as a JSON object: key, value, restart (whether a running daemon has to be started again)")},
				Action: changeConfig(func(cfg *repo.Config, args cli.Args) error { return cfg.Unset(args.First()) }),
			},
			{
				Name: "edit", Usage: "open the configuration in an editor: $VISUAL, $EDITOR or vi",
				Description: "What is not right is not taken over: the text stays in a file beside it.",
				Action:      onRepo(editConfig),
			},
			{
				Name: "check", Usage: "say whether the configuration is right",
				Flags: []cli.Flag{jsonFlag("as a JSON object")},
				Action: onRepo(func(_ context.Context, c *cli.Command, r repo.Repo) error {
					if _, err := r.Config(); err != nil {
						return err
					}
					return say(c, map[string]any{"config": r.ConfigPath(), "right": true}, "%s is right", r.ConfigPath())
				}),
			},
		},
	}
}

// changeConfig returns the action that changes the key of the first argument. The action refuses an invalid value.
func changeConfig(change func(*repo.Config, cli.Args) error) cli.ActionFunc {
	return onRepo(func(ctx context.Context, c *cli.Command, r repo.Repo) error {
		name, was := c.Args().First(), ""
		cfg, err := r.Change(ctx, func(cfg *repo.Config) error {
			was, _ = cfg.Get(name) // change reports a name that does not exist
			err := change(cfg, c.Args())
			if err == nil {
				err = cfg.Check()
			}
			if err != nil {
				return usageError(err)
			}
			return nil
		})
		if err != nil {
			return err
		}
		value, _ := cfg.Value(name) // no error: change has found the key
		now, _ := cfg.Get(name)
		restart := now != was && running(ctx, r)
		text := fmt.Sprintf("%s is %s, was %s", name, visible(now), visible(was))
		if now == was {
			text = fmt.Sprintf("%s is %s, as before", name, visible(now))
		}
		if restart {
			text += "; the daemon that runs takes it when it is started again"
		}
		return say(c, map[string]any{"key": name, "value": value, "restart": restart}, "%s", text)
	})
}

// running reports whether a daemon runs on a repository.
func running(ctx context.Context, r repo.Repo) bool {
	_, err := get[httpapi.ID](ctx, clientOf(r), "id", nil)
	return err == nil
}

// editConfig lets the user edit a copy of the configuration, and replaces the configuration with it if it is valid.
// After an error the copy stays for the next edit, unless it equals the configuration.
func editConfig(ctx context.Context, c *cli.Command, r repo.Repo) error {
	before, err := bounded.ReadFile(r.ConfigPath())
	if err != nil {
		return err
	}
	draft := r.ConfigPath() + ".edit"
	if _, err := os.Lstat(draft); errors.Is(err, fs.ErrNotExist) { // a draft that exists is left from an invalid edit
		if err := os.WriteFile(draft, before, 0o600); err != nil {
			return err
		}
	}
	words := editor()
	e := exec.CommandContext(ctx, words[0], append(words[1:], draft)...) //nolint:gosec // the user's own editor
	e.Stdin, e.Stdout, e.Stderr = c.Root().Reader, c.Root().Writer, c.Root().ErrWriter
	if err = e.Run(); err != nil {
		err = fmt.Errorf("%s: %w", words[0], err)
	} else {
		err = r.Replace(ctx, before, draft)
	}
	if err == nil {
		return nil
	}
	if text, readErr := bounded.ReadFile(draft); readErr == nil && bytes.Equal(text, before) {
		return errors.Join(err, os.Remove(draft))
	}
	return fmt.Errorf("nothing is changed, the text is in %s for the next edit: %w", draft, err)
}

// editor returns the command line of the user's editor.
func editor() []string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if words := strings.Fields(os.Getenv(name)); len(words) > 0 {
			return words
		}
	}
	return []string{"vi"}
}
