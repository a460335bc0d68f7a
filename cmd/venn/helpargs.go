package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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
	lineage := []*cli.Command{root}
	for i := 1; i < len(line); i++ {
		sub := at.Command(line[i])
		switch {
		case sub != nil:
			at, lineage, r.path = sub, append(lineage, sub), append(r.path, line[i])
		case takesValue(lineage, line[i]):
			i++ // its value is neither a command nor a flag
		case noFlag(line[i]):
			return r, usageError(fmt.Errorf("no flag %s; an argument that begins with - goes behind --", line[i]))
		case line[i] == "--help" || line[i] == "-h":
			flagged = true
		case len(at.Commands) > 0 && (line[i] == "help" || line[i] == "h"):
			help = true
		case help && at == root && slices.Contains(topicNames(), line[i]):
			r.topic = line[i]
		case help && at == root:
			return r, usageError(fmt.Errorf("no command or topic %q; `venn help` lists them", line[i]))
		case help:
			return r, noCommand(line[i], strings.Join(r.path, " "))
		}
	}
	if help || flagged {
		r.args = append(r.path[:len(r.path):len(r.path)], "--help")
	}
	return r, nil
}

// noCommand says that a command has no command of a name below it.
func noCommand(name, command string) error {
	return usageError(fmt.Errorf("no command %q in %s; `%s --help` says more", name, command, command))
}

// takesValue reports whether an argument is a flag of one of the commands that takes the next argument as its value.
func takesValue(commands []*cli.Command, arg string) bool {
	name, dash := strings.CutPrefix(arg, "-")
	if !dash {
		return false
	}
	name = strings.TrimPrefix(name, "-")
	for _, c := range commands {
		for _, f := range c.Flags {
			if d, ok := f.(cli.DocGenerationFlag); ok && slices.Contains(f.Names(), name) {
				return d.TakesValue()
			}
		}
	}
	return false
}

// noFlag reports whether an argument begins as a flag and can be none, such as -5. The parser would take it and all that
// follows, flags too, for keys.
func noFlag(arg string) bool {
	second, _ := utf8.DecodeRuneInString(strings.TrimPrefix(arg, "-"))
	return len(arg) > 1 && arg[0] == '-' && second != '-' && !unicode.IsLetter(second)
}
