package main

import (
	"slices"

	"github.com/urfave/cli/v3"
)

// helpOf leaves of a command line that asks for help the commands and --help alone: what stands between them is not
// meant as the topic.
func helpOf(root *cli.Command, args []string) []string {
	end := len(args)
	if i := slices.Index(args, "--"); i >= 0 {
		end = i
	}
	if !slices.ContainsFunc(args[:end], func(a string) bool { return a == "--help" || a == "-h" }) {
		return args
	}
	out, at := args[:1:1], root
	for i := 1; i < end; i++ {
		if args[i] == "--repo" {
			i++ // what it names is no command
			continue
		}
		if sub := at.Command(args[i]); sub != nil {
			out, at = append(out, args[i]), sub
		}
	}
	return append(out, "--help")
}
