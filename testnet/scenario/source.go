package scenario

import (
	"fmt"
	"strconv"
	"strings"
)

// source is the text of a scenario, for errors that name a line.
type source struct{ path, text string }

// Text is the scenario's file.
func (s *Scenario) Text() string { return s.source.text }

// fault is an error about a key, which is named as in "events.1.share": a list's elements by their number, from 0.
func (s source) fault(key, format string, args ...any) error {
	return fmt.Errorf("%w: %s:%d: %s: "+format, append([]any{ErrScenario, s.path, s.line(key), key}, args...)...)
}

// line is where a key stands, or where the nearest table does that it belongs to; 1 when neither stands anywhere.
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

// prefixes says whether a path is another, or leads to it. Elements that the other does not number match the first.
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
