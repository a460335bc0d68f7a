package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"
)

// shells maps each shell that has completion to the name of its completion file.
var shells = map[string]string{"bash": "venn.bash", "zsh": "_venn", "fish": "venn.fish", "pwsh": "venn.ps1"}

func docsCommand() *cli.Command {
	return &cli.Command{
		Name: "docs", Usage: "write man pages and completion files into a folder", ArgsUsage: "FOLDER",
		Description: "FOLDER gets man/man1/venn.1 and a page for each command, and completion/ with files for bash, zsh, fish and pwsh.",
		Flags:       []cli.Flag{jsonFlag("a JSON object a line: wrote")},
		Action: func(_ context.Context, c *cli.Command) error {
			files := manPages(c.Root())
			for shell, name := range shells {
				var out bytes.Buffer
				// A context of its own: with a command's context, the program would become a subcommand.
				if err := app(&out, io.Discard).Run(context.Background(), []string{"venn", "completion", shell}); err != nil {
					return err
				}
				files[filepath.Join("completion", name)] = out.String()
			}
			return writeDocs(c, files)
		},
	}
}

// writeDocs writes files below the folder that is the first argument.
func writeDocs(c *cli.Command, files map[string]string) error {
	for name, text := range files {
		path := filepath.Join(c.Args().First(), name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			return err
		}
	}
	return say(c, map[string]any{"wrote": len(files), "folder": c.Args().First()}, "wrote %d files below %s", len(files), c.Args().First())
}

// manPages returns the page of the program and one for each command that does something, by the names of their files.
func manPages(root *cli.Command) map[string]string {
	pages := map[string]string{filepath.Join("man", "man1", "venn.1"): manPage("venn", root, root.Flags)}
	var below func(prefix string, c *cli.Command)
	below = func(prefix string, c *cli.Command) {
		for _, sub := range c.Commands {
			if sub.Hidden || sub.Name == "help" {
				continue
			}
			name := prefix + "-" + sub.Name
			pages[filepath.Join("man", "man1", name+".1")] = manPage(name, sub, append(sub.Flags[:len(sub.Flags):len(sub.Flags)], repoFlag()))
			below(name, sub)
		}
	}
	below("venn", root)
	return pages
}

// manPage writes a page in the macros of man(7).
func manPage(name string, c *cli.Command, flags []cli.Flag) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"venn\" \"venn\"\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.B %s\n", roff(strings.ToUpper(name)), roff(name), roff(c.Usage), roff(strings.ReplaceAll(name, "-", " ")))
	commands := slices.DeleteFunc(slices.Clone(c.Commands), func(sub *cli.Command) bool { return sub.Hidden || sub.Name == "help" })
	if len(commands) > 0 {
		b.WriteString(".I command\n")
	}
	fmt.Fprintf(&b, "[options] %s\n", roff(c.ArgsUsage))
	if c.Description != "" {
		fmt.Fprintf(&b, ".SH DESCRIPTION\n.nf\n%s\n.fi\n", roff(c.Description))
	}
	if len(commands) > 0 {
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range commands {
			fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", roff(name+"-"+sub.Name), roff(sub.Usage))
		}
	}
	b.WriteString(".SH OPTIONS\n")
	for _, f := range flags {
		doc, ok := f.(cli.DocGenerationFlag)
		if hides, may := f.(cli.VisibleFlag); !ok || may && !hides.IsVisible() {
			continue
		}
		value, usage := unquoted(doc.GetUsage())
		if value != "" && doc.TakesValue() {
			value = " " + value
		} else if value = ""; doc.TakesValue() {
			value = " VALUE"
		}
		if d := doc.GetDefaultText(); d != "" && doc.TakesValue() && doc.IsDefaultVisible() {
			usage += " (default: " + d + ")"
		}
		fmt.Fprintf(&b, ".TP\n.B \\-\\-%s%s\n%s\n", roff(f.Names()[0]), roff(value), roff(usage))
	}
	b.WriteString(".SH EXIT STATUS\n0: done. 1: failed. 2: wrong usage. 3: nobody has it, or there is no such peer. 130: ended by Ctrl-C.\n")
	return b.String()
}

// unquoted takes the name of a flag's value, which stands in backquotes, from its usage.
func unquoted(usage string) (value, text string) {
	before, rest, found := strings.Cut(usage, "`")
	value, after, closed := strings.Cut(rest, "`")
	if !found || !closed {
		return "", usage
	}
	return value, before + value + after
}

// roff escapes text.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
