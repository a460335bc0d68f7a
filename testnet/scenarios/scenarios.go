// Package scenarios holds the scenarios that the program comes with, one a question, each with the answer that it gave.
package scenarios

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/venn-p2p/venn/testnet/scenario"
)

//go:embed *.toml *.csv
var files embed.FS

// ErrUnknown is matched when no scenario has a name.
var ErrUnknown = errors.New("scenarios: no such scenario")

// Names returns the names of all scenarios, in their order.
func Names() []string {
	found, err := fs.Glob(files, "*.toml")
	if err != nil {
		panic(err) // the pattern is ours
	}
	for i, f := range found {
		found[i] = strings.TrimSuffix(f, path.Ext(f))
	}
	return found
}

// Text returns the file of a scenario.
func Text(name string) (string, error) {
	b, err := files.ReadFile(name + ".toml")
	if err != nil {
		return "", fmt.Errorf("%w: %q; there are %s", ErrUnknown, name, strings.Join(Names(), ", "))
	}
	return string(b), nil
}

// Load reads a scenario.
func Load(name string) (*scenario.Scenario, error) {
	text, err := Text(name)
	if err != nil {
		return nil, err
	}
	return scenario.ParseIn(files, name+".toml", text)
}

// All returns all scenarios.
func All() ([]*scenario.Scenario, error) {
	var out []*scenario.Scenario
	for _, name := range Names() {
		s, err := Load(name)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}
