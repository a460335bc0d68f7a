package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"
)

// helpOf reduces a command line that asks for help to the commands and --help: the arguments between them are not a
// topic. It refuses help on an unknown command.
func helpOf(root *cli.Command, args []string) ([]string, error) {
	if len(args) > 2 && (args[1] == "help" || args[1] == "h") && !strings.HasPrefix(args[2], "-") {
		return helpWith(root, args)
	}
	if !slices.ContainsFunc(beforeDashes(args), func(a string) bool { return a == "--help" || a == "-h" }) {
		return args, nil
	}
	return append(append(args[:1:1], commandOf(root, args)...), "--help"), nil
}

// helpWith returns the command line with --help that `venn help COMMAND…` stands for.
func helpWith(root *cli.Command, args []string) ([]string, error) {
	at := root
	for _, name := range args[2:] {
		sub := at.Command(name)
		switch {
		case sub == nil && at == root: // the parser has commands of its own
			return args, nil
		case sub == nil:
			return nil, usageError(fmt.Errorf("no command %q in venn %s; `venn %s --help` says more", name, at.Name, at.Name))
		}
		at = sub
	}
	return append(append(args[:1:1], args[2:]...), "--help"), nil
}

// commandOf returns the path of the command that a command line runs, without the program's name; empty for none.
func commandOf(root *cli.Command, args []string) (path []string) {
	at, line := root, beforeDashes(args)
	for i := 1; i < len(line); i++ {
		if line[i] == "--repo" {
			i++ // its value is no command
			continue
		}
		if sub := at.Command(line[i]); sub != nil {
			path, at = append(path, line[i]), sub
		}
	}
	return path
}

// beforeDashes returns a command line up to the argument --.
func beforeDashes(args []string) []string {
	if i := slices.Index(args, "--"); i >= 0 {
		return args[:i]
	}
	return args
}
