package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"
)

// request holds what a command line asks for.
type request struct {
	args  []string // arguments for the parser
	path  []string // names of the command that runs, the program's first
	topic string   // topic to print instead; empty: none
}

// requestOf reads a command line up to the argument --. A line asks for help by --help anywhere, or by `help NAME…`
// after the name of the program or of a group of commands. The parser then gets only the names of the command and
// --help: it would take other arguments between them for a topic.
func requestOf(root *cli.Command, args []string) (r request, err error) {
	r = request{args: args, path: []string{root.Name}}
	line := args
	if i := slices.Index(args, "--"); i >= 0 {
		line = args[:i]
	}
	at, help, flagged := root, false, false
	for i := 1; i < len(line); i++ {
		sub := at.Command(line[i])
		switch {
		case sub != nil:
			at, r.path = sub, append(r.path, line[i])
		case line[i] == "--repo":
			i++ // its value is no command
		case line[i] == "--help" || line[i] == "-h":
			flagged = true
		case len(at.Commands) > 0 && (line[i] == "help" || line[i] == "h"):
			help = true
		case help && at == root && isTopic(line[i]):
			r.topic = line[i]
		case help && at == root:
			return r, usageError(fmt.Errorf("no command or topic %q; `venn help` lists them", line[i]))
		case help:
			name := strings.Join(r.path, " ")
			return r, usageError(fmt.Errorf("no command %q in %s; `%s --help` says more", line[i], name, name))
		}
	}
	if help || flagged {
		r.args = append(r.path[:len(r.path):len(r.path)], "--help")
	}
	return r, nil
}
