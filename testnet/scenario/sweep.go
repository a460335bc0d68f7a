package scenario

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// maxPoints is the largest number of combinations of a sweep.
const maxPoints = 1000

// Points returns the scenarios of a sweep, one for each combination of the values; the last key's value changes first.
// Each is a scenario of its own, without answers, named after its values. Without a sweep, s is the only point.
// Errors match ErrScenario.
func (s *Scenario) Points() ([]*Scenario, error) {
	if len(s.sweeps) == 0 {
		return []*Scenario{s}, nil
	}
	points := [][]any{nil}
	for _, k := range s.sweeps {
		var more [][]any
		for _, p := range points {
			for _, v := range k.Values {
				more = append(more, append(slices.Clone(p), v))
			}
		}
		if points = more; len(points) > maxPoints {
			return nil, s.source.fault("sweep", "more than %d combinations", maxPoints)
		}
	}
	var out []*Scenario
	for _, values := range points {
		at, err := s.at(values)
		if err != nil {
			return nil, err
		}
		out = append(out, at)
	}
	return out, nil
}

// swept reads the sweep's values of a key.
func (s *Scenario) swept(key toml.Key) (Setting, error) {
	var in any = s.Sweep
	for _, name := range key[1:] {
		in = in.(map[string]any)[name]
	}
	values, is := in.([]any)
	switch {
	case !is:
		return Setting{}, s.source.fault(key.String(), "%v is no list of values", in)
	case len(values) == 0:
		return Setting{}, s.source.fault(key.String(), "has no values")
	}
	return Setting{strings.Join(key[1:], "."), values}, nil
}

// table returns the scenario's text as nested tables, without its sweep.
func (s *Scenario) table() (map[string]any, error) {
	all := map[string]any{}
	if _, err := toml.Decode(s.Text(), &all); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrScenario, s.Name, err)
	}
	delete(all, "sweep")
	return all, nil
}

// encoded makes a scenario with a name from nested tables and sweeps.
func (s *Scenario) encoded(all map[string]any, name string, sweeps []Setting) (*Scenario, error) {
	var text bytes.Buffer
	if err := toml.NewEncoder(&text).Encode(all); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrScenario, name, err)
	}
	if len(sweeps) > 0 {
		text.WriteString("\n[sweep]\n")
	}
	for _, k := range sweeps {
		if err := toml.NewEncoder(&text).Encode(map[string]any{"values": k.Values}); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrScenario, name, err)
		}
		line := bytes.LastIndex(text.Bytes(), []byte("values = "))
		list := string(text.Bytes()[line+len("values"):])
		text.Truncate(line)
		text.WriteString(k.Key + list)
	}
	out, err := parse(s.built, s.source.path, text.String())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	out.Name = name
	return out, nil
}

// at returns the scenario at a point.
func (s *Scenario) at(values []any) (*Scenario, error) {
	all, err := s.table()
	if err != nil {
		return nil, err
	}
	delete(all, "answers")
	name := s.Name
	var at []Coordinate
	for i, k := range s.sweeps {
		if err := set(all, strings.Split(k.Key, "."), values[i]); err != nil {
			return nil, s.source.fault("sweep."+k.Key, "%w", err)
		}
		at = append(at, coordinate(k.Key, values[i]))
		name += "," + at[i].String()
	}
	out, err := s.encoded(all, name, nil)
	if err != nil {
		return nil, err
	}
	out.Strategies, out.Trials, out.Seed = s.Strategies, s.Trials, s.Seed // which a command may have changed
	out.At, out.Whole = at, s
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

// Swept reports whether the scenario has a sweep.
func (s *Scenario) Swept() bool { return len(s.sweeps) > 0 }

// Varies reports whether the sweep is over a key.
func (s *Scenario) Varies(key string) bool {
	return slices.ContainsFunc(s.sweeps, func(k Setting) bool { return k.Key == key })
}

// SweptBy returns the scenario's sweeps, with the given values in the sweep over key.
func (s *Scenario) SweptBy(key string, values []any) []Setting {
	out := slices.Clone(s.sweeps)
	for i := range out {
		if out[i].Key == key {
			out[i].Values = values
		}
	}
	return out
}
