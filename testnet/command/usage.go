// Package command is the part of the command line that runs experiments and scenarios. Programs with their own
// strategies use it, too.
package command

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/urfave/cli/v3"
)

// UsageError is an error of the user on the command line.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the error itself, for package errors.
func (e UsageError) Unwrap() error { return e.Err }

// usage returns a UsageError.
func usage(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// Strict changes a command and its subcommands: their errors of usage become UsageErrors, and they check the number
// of their arguments. A command without subcommands gets no subcommand help from the parser, because its arguments
// may be keys, and "help" may be one.
func Strict(c *cli.Command) {
	c.HideHelpCommand = len(c.Commands) == 0
	c.OnUsageError = func(_ context.Context, _ *cli.Command, err error, _ bool) error { return UsageError{clearer{err}} }
	if act := c.Action; c.HideHelpCommand {
		c.Action = func(ctx context.Context, c *cli.Command) error {
			if err := checkArguments(c); err != nil {
				return err
			}
			return act(ctx, c)
		}
	}
	for _, f := range c.Flags { // otherwise the first of two values would be dropped silently
		switch f := f.(type) {
		case *cli.StringFlag:
			f.OnlyOnce = true
		case *cli.IntFlag:
			f.OnlyOnce = true
		case *cli.Uint64Flag:
			f.OnlyOnce = true
		case *cli.FloatFlag:
			f.OnlyOnce = true
		case *cli.DurationFlag:
			f.OnlyOnce = true
		}
	}
	for _, sub := range c.Commands {
		Strict(sub)
	}
}

// FlagAlone is the value of a flag of any type that has no value after it; the next argument may be its value.
const FlagAlone = "true"

// checkArguments checks the number of arguments against the names in the command's ArgsUsage. An argument in brackets
// may be missing. One with … in its name may be repeated.
func checkArguments(c *cli.Command) error {
	names, n := strings.Fields(c.ArgsUsage), c.Args().Len()
	least, most := 0, len(names)
	for _, name := range names {
		if !strings.HasPrefix(name, "[") {
			least++
		}
		if strings.Contains(name, "…") {
			most = math.MaxInt
		}
	}
	for _, f := range c.Flags {
		if g, is := f.(*cli.GenericFlag); is && c.Value(g.Name) == FlagAlone {
			most++
		}
	}
	if least <= n && n <= most {
		return nil
	}
	got := "none"
	if n > 0 {
		got = fmt.Sprintf("%q", c.Args().Slice())
	}
	return usage("%s takes %s, got %s", c.FullName(), cmp.Or(strings.Join(names, " "), "no argument"), got)
}

// clearer is an error of the command line's parser in the words of the help: flags with both dashes, and no names of
// Go's functions.
type clearer struct{ error }

func (c clearer) Unwrap() error { return c.error }

var (
	unknown  = regexp.MustCompile(`^flag provided but not defined: -+`)
	oneDash  = regexp.MustCompile(`\bflag -([a-z0-9][a-z0-9-]+)`)
	badParse = regexp.MustCompile(`strconv\.Parse(\w+): parsing ".*": (invalid syntax|value out of range)`)
)

func (c clearer) Error() string {
	text := unknown.ReplaceAllString(c.error.Error(), "no flag --")
	text = oneDash.ReplaceAllString(text, "flag --$1")
	text = strings.Replace(text, "can't duplicate this flag", "the flag is given twice", 1)
	return badParse.ReplaceAllStringFunc(text, func(found string) string {
		switch parts := badParse.FindStringSubmatch(found); {
		case parts[2] == "value out of range":
			return "out of range"
		case parts[1] == "Int":
			return "want a whole number"
		case parts[1] == "Uint":
			return "want a whole number, 0 or more"
		case parts[1] == "Bool":
			return "want true or false"
		}
		return "want a number"
	})
}
