// Package command is the part of the command line that runs experiments and scenarios, for a program of one's own too.
package command

import (
	"fmt"

	"github.com/urfave/cli/v3"
)

// UsageError is a fault of the command line.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap implements the interface of package errors.
func (e UsageError) Unwrap() error { return e.Err }

func usage(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// noArguments refuses arguments that are no flags.
func noArguments(c *cli.Command) error {
	if extra := c.Args().First(); extra != "" {
		return usage("%s takes no argument, got %q", c.Name, extra)
	}
	return nil
}
