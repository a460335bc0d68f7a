// Command venn runs a local network of peers that know, approximately and cheaply, which keys the others hold.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path"
	"strings"
	"syscall"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/testnet/command"
	"github.com/venn-p2p/venn/testnet/page"
)

// Exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNone        = 3   // nobody has the key, or the peer is not known
	exitInterrupted = 130 // Ctrl-C ended the command before it was done
)

// init lets help texts break lines as all other output does.
func init() {
	cli.HelpPrinterCustom = func(w io.Writer, template string, data any, functions map[string]any) {
		cli.DefaultPrintHelpCustom(page.On(w), template, data, functions)
	}
}

func main() {
	os.Exit(mainCode())
}

func mainCode() int {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	return run(ctx, os.Args, os.Stdout, os.Stderr)
}

// run runs the command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := app(stdout, stderr)
	asked, err := requestOf(root, args)
	switch {
	case err != nil:
	case asked.topic != "":
		_, err = io.WriteString(page.On(stdout), textOf(path.Join("topics", asked.topic+".md")))
	default:
		err = root.Run(ctx, asked.args)
	}
	if err == nil {
		return exitDone
	}
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, net.ErrClosed)) {
		err = errors.New("interrupted")
	}
	switch {
	case err == errNone: //nolint:errorlint // errNone exits with 3 and prints nothing: each missing key was already reported
	case isUsage(err):
		complain(stderr, withHelp(textOfError(err), asked.path))
	default:
		complain(stderr, textOfError(err))
	}
	switch {
	case isUsage(err):
		return exitUsage
	case errors.Is(err, errNone):
		return exitNone
	case ctx.Err() != nil:
		return exitInterrupted
	}
	return exitFailed
}

// usageError returns a fault of the command line.
func usageError(err error) error { return command.UsageError{Err: err} }

// isUsage reports whether an error is a fault of the command line.
func isUsage(err error) bool { return errors.As(err, new(command.UsageError)) }

// withHelp adds to the text of an error of usage the command whose help explains the error, unless it names a command.
func withHelp(text string, path []string) string {
	if strings.Contains(text, "`") {
		return text
	}
	return fmt.Sprintf("%s; see `%s --help`", text, strings.Join(path, " "))
}

func app(stdout, stderr io.Writer) *cli.Command {
	root := &cli.Command{
		Name:  "venn",
		Usage: "find out who holds what, among peers that share what they have",
		Description: "A venn peer advertises a small summary of its collection. From the summaries of others it estimates how much\n" +
			"they have in common, and picks neighbours by that. It asks for a key only the peers that probably hold it.\n\n" +
			"Begin with `venn testnet`: a network of 121 peers in one process, with a report of what they found.\n" +
			"Run a peer of your own with `venn init` and `venn daemon`.\n\n" +
			"`venn help TOPIC` says more of: " + strings.Join(topicNames(), ", ") + ".",
		EnableShellCompletion: true,
		Writer:                stdout,
		ErrWriter:             stderr,
		ExitErrHandler:        func(context.Context, *cli.Command, error) {}, // run prints the error
		Action:                noSuchCommand,
		Flags:                 []cli.Flag{repoFlag(), &cli.BoolFlag{Name: "version", Usage: "print the version", Local: true}},
		Commands:              append(nodeCommands(), testnetCommand(), viewCommand(), summaryCommand(), experimentCommand(), docsCommand(), versionCommand()),
	}
	command.Strict(root)
	return root
}

// noSuchCommand is the action of venn without a known command.
func noSuchCommand(_ context.Context, c *cli.Command) error {
	if c.Bool("version") {
		return printVersion(c)
	}
	if name := c.Args().First(); name != "" {
		return usageError(fmt.Errorf("no command %q; `venn help` lists them", name))
	}
	return cli.ShowRootCommandHelp(c)
}
