package scenario

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// maxPoints is the most combinations of a sweep.
const maxPoints = 1000

// swept is a key of a scenario and the values that it takes.
type swept struct {
	path   []string
	values []any
}

// Points are the scenarios of a sweep, one for each combination of the values, the first key's changing last. Each is a
// scenario of its own, without answers, named after its values. Without a sweep the scenario is its only point. Errors
// match ErrScenario.
func (s *Scenario) Points() ([]*Scenario, error) {
	if len(s.Sweep) == 0 {
		return []*Scenario{s}, nil
	}
	keys, err := s.swept(nil, s.Sweep)
	if err != nil {
		return nil, err
	}
	points := [][]any{nil}
	for _, k := range keys {
		var more [][]any
		for _, p := range points {
			for _, v := range k.values {
				more = append(more, append(slices.Clone(p), v))
			}
		}
		if points = more; len(points) > maxPoints {
			return nil, s.source.fault("sweep", "more than %d combinations", maxPoints)
		}
	}
	var out []*Scenario
	for _, values := range points {
		at, err := s.at(keys, values)
		if err != nil {
			return nil, err
		}
		out = append(out, at)
	}
	return out, nil
}

// swept lists the keys of a sweep in order of their names.
func (s *Scenario) swept(path []string, table map[string]any) (out []swept, err error) {
	for _, name := range slices.Sorted(maps.Keys(table)) {
		at := append(slices.Clone(path), name)
		switch v := table[name].(type) {
		case map[string]any:
			below, err := s.swept(at, v)
			if err != nil {
				return nil, err
			}
			out = append(out, below...)
		case []any:
			if len(v) == 0 {
				return nil, s.source.fault("sweep."+strings.Join(at, "."), "has no values")
			}
			out = append(out, swept{at, v})
		default:
			return nil, s.source.fault("sweep."+strings.Join(at, "."), "%v is no list of values", v)
		}
	}
	return out, nil
}

// at is the scenario at a point.
func (s *Scenario) at(keys []swept, values []any) (*Scenario, error) {
	all := map[string]any{}
	if _, err := toml.Decode(s.Text(), &all); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrScenario, s.Name, err)
	}
	delete(all, "sweep")
	delete(all, "answers")
	name := s.Name
	for i, k := range keys {
		if err := set(all, k.path, values[i]); err != nil {
			return nil, s.source.fault("sweep."+strings.Join(k.path, "."), "%w", err)
		}
		name += fmt.Sprintf(",%s=%v", strings.Join(k.path, "."), values[i])
	}
	var text bytes.Buffer
	if err := toml.NewEncoder(&text).Encode(all); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrScenario, name, err)
	}
	out, err := ParseIn(s.files, s.source.path, text.String())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	out.Name = name
	return out, nil
}

// set sets a key of nested tables. A list's element is named by its number, from 0.
func set(in any, path []string, value any) error {
	switch t := in.(type) {
	case map[string]any:
		if len(path) == 1 {
			t[path[0]] = value
			return nil
		}
		if t[path[0]] == nil {
			t[path[0]] = map[string]any{}
		}
		return set(t[path[0]], path[1:], value)
	case []map[string]any:
		if i, err := strconv.Atoi(path[0]); err == nil && i >= 0 && i < len(t) && len(path) > 1 {
			return set(t[i], path[1:], value)
		}
		return fmt.Errorf("%q is none of %d elements", path[0], len(t))
	}
	return fmt.Errorf("%q is no table", path[0])
}
