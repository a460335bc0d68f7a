package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/template"

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
			files := make(map[string]string)
			manPages(files, "venn", c.Root(), c.Root().VisibleFlags())
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

// manPages adds the page of a command and the pages of its subcommands to files, by the names of their files. path has
// the names of the command, from the program's on.
func manPages(files map[string]string, path string, c *cli.Command, flags []cli.Flag) {
	var out strings.Builder
	if err := manPage.Execute(&out, manned{c, path, flags}); err != nil {
		panic(err) // the template is constant
	}
	files[filepath.Join("man", "man1", dashed(path)+".1")] = out.String()
	for _, sub := range c.VisibleCommands() {
		manPages(files, path+" "+sub.Name, sub, append(sub.VisibleFlags(), repoFlag()))
	}
}

func dashed(path string) string { return strings.ReplaceAll(path, " ", "-") }

// manned is the data of a command's man page.
type manned struct {
	*cli.Command
	Path    string
	Options []cli.Flag
}

// manPage writes a page in the macros of man(7).
var manPage = template.Must(template.New("man").Funcs(template.FuncMap{"roff": roff, "upper": strings.ToUpper, "dashed": dashed}).Parse(
	`.TH {{.Path | dashed | upper | roff}} 1 "" "venn" "venn"
.SH NAME
{{.Path | dashed | roff}} \- {{roff .Usage}}
.SH SYNOPSIS
.B {{roff .Path}}
{{if .VisibleCommands}}.I command
{{end}}[options] {{roff .ArgsUsage}}
{{with .Description}}.SH DESCRIPTION
.nf
{{roff .}}
.fi
{{end}}{{with .VisibleCommands}}.SH COMMANDS
{{range .}}.TP
.BR {{$.Path | dashed | roff}}\-{{roff .Name}} (1)
{{roff .Usage}}
{{end}}{{end}}.SH OPTIONS
{{range .Options}}.TP
.B {{.String | roff}}
{{end}}.SH EXIT STATUS
0: done. 1: failed. 2: wrong usage. 3: nobody has it, or there is no such peer. 130: ended by Ctrl-C.
`))

// roff escapes text for man(7). Text after a tab, such as the meaning of a flag, begins a line.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`, "\t", "\n").Replace(text), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
