package main

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v3"
)

// eachCommand calls f with every command and its names, separated by blanks.
func eachCommand(at *cli.Command, path string, f func(path string, c *cli.Command)) {
	for _, c := range at.Commands {
		name := strings.TrimSpace(path + " " + c.Name)
		f(name, c)
		eachCommand(c, name, f)
	}
}

// textOnly are commands that print nothing that a program would read.
var textOnly = map[string]bool{"config edit": true}

// laboratory says whether a command belongs to the laboratory, which prints files and reports of its own.
func laboratory(path string) bool {
	return strings.HasPrefix(path, "testnet") || strings.HasPrefix(path, "experiment") || path == "view"
}

// TestConventions holds every command to `venn help conventions`.
func TestConventions(t *testing.T) {
	flags := make(map[string]string) // types by name
	arguments := regexp.MustCompile(`^(\[?(KEY|PEER|FILE|OLD|NEW|DELTA|KEYS|A|B|MULTIADDR|FOLDER|VALUE|PATH|[a-z|]+)…?(\|-)?\]? ?)*$`)
	eachCommand(app(io.Discard, io.Discard), "", func(path string, c *cli.Command) {
		group := len(c.Commands) > 0
		if group && c.ArgsUsage != "" || c.Action == nil && !laboratory(path) || !group && !c.HideHelpCommand {
			t.Errorf("venn %s: a command takes arguments or has others below it", path)
		}
		if !oneSentence(c.Usage) {
			t.Errorf("venn %s: usage %q does not begin with a verb in small letters, or ends with a stop", path, c.Usage)
		}
		if !laboratory(path) && !arguments.MatchString(c.ArgsUsage) {
			t.Errorf("venn %s: arguments %q", path, c.ArgsUsage)
		}
		json := false
		for _, f := range c.Flags {
			name, doc := f.Names()[0], f.(cli.DocGenerationFlag)
			json = json || name == "json"
			if hides, ok := f.(cli.VisibleFlag); ok && !hides.IsVisible() {
				continue
			}
			kind := fmt.Sprintf("%T", f)
			if other, ok := flags[name]; ok && other != kind && name != "seed" {
				t.Errorf("venn %s: --%s is a %s, and a %s elsewhere", path, name, kind, other)
			}
			flags[name] = kind
			if !oneSentence(doc.GetUsage()) {
				t.Errorf("venn %s: --%s: %q begins with a capital or ends with a stop", path, name, doc.GetUsage())
			}
			if laboratory(path) {
				continue
			}
			if named := strings.Count(doc.GetUsage(), "`") == 2; doc.TakesValue() != named {
				t.Errorf("venn %s: --%s: %q does not name the value once", path, name, doc.GetUsage())
			}
			if n := len([]rune(doc.GetUsage())); n > 160 {
				t.Errorf("venn %s: --%s has %d characters, want 160 at most", path, name, n)
			}
			if aliases := f.Names()[1:]; len(aliases) > 0 && (name != "out" || aliases[0] != "o") {
				t.Errorf("venn %s: --%s is also %q", path, name, aliases)
			}
		}
		if !group && !json && !textOnly[path] && !laboratory(path) {
			t.Errorf("venn %s has no --json", path)
		}
	})
	for name, kind := range map[string]string{
		"count": "Int", "top": "Int", "keys": "Int", "out": "String", "every": "Duration", "timeout": "Duration", "wait": "Duration", "json": "Bool",
	} {
		if !strings.Contains(strings.ToLower(flags[name]), strings.ToLower(kind)) && !strings.Contains(flags[name], map[string]string{"Int": "[int,", "String": "[string,", "Duration": "[time.Duration,", "Bool": "[bool,"}[kind]) {
			t.Errorf("--%s is a %s, want a flag for %s", name, flags[name], kind)
		}
	}
}

// TestArguments gives every command too few arguments and too many: each refuses them in the same words.
func TestArguments(t *testing.T) {
	eachCommand(app(io.Discard, io.Discard), "", func(path string, c *cli.Command) {
		if len(c.Commands) > 0 {
			return
		}
		names, line := strings.Fields(c.ArgsUsage), strings.Fields(path)
		for _, f := range c.Flags {
			if r, ok := f.(cli.RequiredFlag); ok && r.IsRequired() {
				line = append(line, "--"+f.Names()[0]+"=1")
			}
		}
		for _, given := range [][]string{nil, append(make([]string, len(names)), "extra")} {
			got := "none"
			if given != nil {
				got = fmt.Sprintf("%q", given)
			}
			if given == nil && (len(names) == 0 || names[0][0] == '[') || given != nil && strings.Contains(c.ArgsUsage, "…") {
				continue // as many are right
			}
			want := fmt.Sprintf("venn: venn %s takes %s, got %s; see `venn %[1]s --help`\n", path, cmp.Or(strings.Join(names, " "), "no argument"), got)
			if code, _, stderr := venn(append(line, given...)...); code != exitUsage || stderr != want {
				t.Errorf("venn %s %q ends with %d and %q, want %q", path, given, code, stderr, want)
			}
		}
	})
}

// oneSentence reports whether a text begins with a small letter or a quoted value and does not end with a stop.
func oneSentence(text string) bool {
	return text != "" && regexp.MustCompile("^(`|[a-z]|SHA)").MatchString(text) && !strings.HasSuffix(text, ".")
}
