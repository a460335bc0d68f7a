package scenario

import (
	"embed"
	"errors"
	"fmt"
	"strings"
)

// builtIn has the scenarios that the program comes with, one a question, each with the answer that it gave.
//
//go:embed built
var builtIn embed.FS

// ErrUnknown is matched when the program comes with no scenario of a name.
var ErrUnknown = errors.New("scenario: no such scenario")

// Names returns the names of the scenarios that the program comes with, in their order.
func Names() (names []string) {
	files, err := builtIn.ReadDir("built")
	if err != nil {
		panic(err) // the name is ours
	}
	for _, f := range files {
		if IsFile(f.Name()) {
			names = append(names, strings.TrimSuffix(f.Name(), ".toml"))
		}
	}
	return names
}

// TextOf returns the file of a scenario that the program comes with.
func TextOf(name string) (string, error) {
	b, err := builtIn.ReadFile("built/" + name + ".toml")
	if err != nil {
		return "", fmt.Errorf("%w: %q; there are %s", ErrUnknown, name, strings.Join(Names(), ", "))
	}
	return string(b), nil
}

// All returns all scenarios that the program comes with.
func All() ([]*Scenario, error) {
	var out []*Scenario
	for _, name := range Names() {
		s, err := Load(name)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}
