package scenario

import (
	"fmt"
	"strconv"
	"strings"
)

// source is the text of a scenario, for errors that name a line.
type source struct{ path, text string }

// Text returns the scenario's file.
func (s *Scenario) Text() string { return s.source.text }

// fault returns an error about a key, named as in "events.1.share": a list's elements by their number, from 0.
func (s source) fault(key, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if s.path == "" { // no file has the scenario
		return fmt.Errorf("%w: %w", ErrScenario, err)
	}
	return fmt.Errorf("%w: %s:%d: %s: %w", ErrScenario, s.path, s.line(key), key, err)
}

// line returns the line of a key, or of the nearest table around it; 1 if there is neither.
func (s source) line(key string) int {
	best, length := 1, 0
	table, seen := "", map[string]int{}
	for i, text := range strings.Split(s.text, "\n") {
		text = strings.TrimSpace(text)
		switch {
		case strings.HasPrefix(text, "[["):
			name, _, _ := strings.Cut(strings.TrimLeft(text, "["), "]")
			table = strings.TrimSpace(name) + "." + strconv.Itoa(seen[name])
			seen[name]++
		case strings.HasPrefix(text, "["):
			name, _, _ := strings.Cut(strings.TrimLeft(text, "["), "]")
			table = strings.TrimSpace(name)
		default:
			name, _, assigned := strings.Cut(text, "=")
			if name = strings.TrimSpace(name); !assigned || strings.HasPrefix(name, "#") {
				continue
			}
			if full := strings.Trim(table+"."+name, "."); prefixes(full, key) && len(full) >= length {
				best, length = i+1, len(full)
			}
			continue
		}
		if prefixes(table, key) && len(table) > length {
			best, length = i+1, len(table)
		}
	}
	return best
}

// prefixes reports whether path is key, or a table around it. If key has no numbers, path's are ignored.
func prefixes(path, key string) bool {
	plain := func(s string) string {
		var out []string
		for part := range strings.SplitSeq(s, ".") {
			if _, err := strconv.Atoi(part); err != nil {
				out = append(out, part)
			}
		}
		return strings.Join(out, ".")
	}
	if !strings.ContainsAny(key, "0123456789") {
		path = plain(path)
	}
	return path != "" && (path == key || strings.HasPrefix(key, path+"."))
}
