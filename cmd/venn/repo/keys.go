package repo

import (
	"fmt"
	"net"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/node/units"
)

// entry is one key of a configuration, with its value.
type entry struct {
	section, key string
	tag          reflect.StructTag
	value        reflect.Value
}

func (e entry) name() string { return e.section + "." + e.key }

// variable returns the name of the environment variable that overrides the key: VENN_NETWORK_NAME for network.name.
func (e entry) variable() string {
	return "VENN_" + strings.ToUpper(strings.ReplaceAll(e.name(), ".", "_"))
}

// entries returns all keys of c, in the order of the file.
func (c *Config) entries() (out []entry) {
	return entriesOf("", reflect.ValueOf(c).Elem())
}

// entriesOf returns the keys of a section and of its subsections, whose names begin with the section's.
func entriesOf(section string, v reflect.Value) (out []entry) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name := f.Tag.Get("toml")
		if f.Type.Kind() != reflect.Struct {
			out = append(out, entry{section, name, f.Tag, v.Field(i)})
			continue
		}
		if section != "" {
			name = section + "." + name
		}
		out = append(out, entriesOf(name, v.Field(i))...)
	}
	return out
}

// String returns c as the text of a file, with a comment above every key.
func (c Config) String() string {
	var b strings.Builder
	b.WriteString("# Configuration of a venn daemon. It is read at the start. VENN_<SECTION>_<KEY> in the environment overrides a key;\n" +
		"# lists are separated by commas there.\n")
	section := ""
	for _, e := range c.entries() {
		if e.section != section {
			section = e.section
			fmt.Fprintf(&b, "\n[%s]\n", section)
		}
		fmt.Fprintf(&b, "# %s\n%s = %s\n", e.tag.Get("doc"), e.key, literal(e.value))
	}
	return b.String()
}

// literal formats a value as TOML.
func literal(v reflect.Value) string {
	b, err := toml.Marshal(map[string]any{"x": v.Interface()})
	if err != nil {
		panic(err) // cannot be: all kinds of keys have a form in TOML
	}
	return strings.TrimSpace(strings.TrimPrefix(string(b), "x ="))
}

// Set sets a key, named section.key, from text. The text is a value as in the file, a string without quotes, or the
// elements of a list with commas between them.
func (c *Config) Set(name, text string) error {
	e, err := c.find(name)
	if err != nil {
		return err
	}
	return e.set(text)
}

// known returns a hint for an unknown key: the keys of its section, or all sections if there is no such section.
func known(name string) string {
	section := name[:max(0, strings.LastIndex(name, "."))]
	var keys, sections []string
	for _, e := range new(Config).entries() {
		if e.section == section {
			keys = append(keys, e.key)
		}
		if !slices.Contains(sections, e.section) {
			sections = append(sections, e.section)
		}
	}
	if len(keys) > 0 {
		return section + " has " + strings.Join(keys, ", ")
	}
	return "the sections are " + strings.Join(sections, ", ")
}

// set sets the key from text, in the forms that Config.Set describes.
func (e entry) set(text string) (err error) {
	if isLiteral(text, e.value.Kind()) {
		return e.setLiteral(text)
	}
	var x any = text
	switch e.value.Kind() {
	case reflect.Bool:
		x, err = strconv.ParseBool(text)
	case reflect.Float64:
		x, err = strconv.ParseFloat(text, 64)
	case reflect.Int, reflect.Int64:
		if x, err = e.whole(text); err != nil && e.tag.Get("unit") != "" {
			return fmt.Errorf("%w: %s: %w", ErrConfig, e.name(), err)
		}
	case reflect.Uint32:
		x, err = strconv.ParseUint(text, 10, 32)
	case reflect.Slice:
		x = []string{}
		if text != "" {
			x = strings.Split(text, ",")
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %q is no %s", ErrConfig, e.name(), text, word(e.value.Kind()))
	}
	e.value.Set(reflect.ValueOf(x).Convert(e.value.Type()))
	return nil
}

// whole parses a whole number, with the units that the key allows.
func (e entry) whole(text string) (int64, error) {
	switch e.tag.Get("unit") {
	case "bit/s":
		return units.Rate(text)
	case "bytes":
		return units.Bytes(text)
	}
	return strconv.ParseInt(text, 10, 64)
}

// word returns the name of a kind of value, for errors.
func word(k reflect.Kind) string {
	switch k {
	case reflect.Int, reflect.Int64:
		return "whole number"
	case reflect.Uint32:
		return "whole number from 0 to 4294967295"
	case reflect.Float64:
		return "number"
	case reflect.Bool:
		return "boolean"
	case reflect.Slice:
		return "list"
	}
	return k.String()
}

// isLiteral reports whether text is a value in TOML: a string in quotes, or a list in brackets.
func isLiteral(text string, kind reflect.Kind) bool {
	text = strings.TrimSpace(text)
	return kind == reflect.String && strings.HasPrefix(text, `"`) || kind == reflect.Slice && strings.HasPrefix(text, "[")
}

func (e entry) setLiteral(text string) error {
	value := reflect.New(reflect.MapOf(reflect.TypeFor[string](), e.value.Type()))
	if _, err := toml.Decode("x = "+text, value.Interface()); err != nil {
		return fmt.Errorf("%w: %s: %s is no %s in TOML", ErrConfig, e.name(), text, word(e.value.Kind()))
	}
	v := value.Elem().MapIndex(reflect.ValueOf("x"))
	e.value.Set(v)
	return nil
}

// mistyped returns the error of the first key or section of a file whose value has the wrong type; nil: all are right.
func (c *Config) mistyped(file map[string]any) error {
	for _, e := range c.entries() {
		value, at := any(file), ""
		for name := range strings.SplitSeq(e.name(), ".") {
			section, ok := value.(map[string]any)
			if !ok {
				return fmt.Errorf("%w: %s is no section", ErrConfig, at)
			}
			if value, ok = section[name]; !ok {
				break
			}
			at = strings.TrimPrefix(at+"."+name, ".")
		}
		if at == e.name() {
			if err := e.setLiteral(literal(reflect.ValueOf(value))); err != nil {
				return err
			}
		}
	}
	return nil
}

// forms has the checks of values that are texts, by the name of their form. A text that is not in a list may be
// empty.
var forms = map[string]func(text string) error{
	"multiaddr":                         func(text string) error { _, err := ma.NewMultiaddr(text); return err },
	"multiaddr with /p2p/ID":            func(text string) error { _, err := peer.AddrInfoFromString(text); return err },
	"host:port":                         hostPort,
	"time such as 2030-01-31T12:00:00Z": func(text string) error { _, err := time.Parse(time.RFC3339, text); return err },
}

// hostPort checks an address to listen on: a host, which may be empty, and a port, which may be 0.
func hostPort(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	return err
}

// faults returns what is wrong with a value, by the rules in the key's tags.
func (e entry) faults() (all []error) {
	fault := func(format string, args ...any) {
		all = append(all, fmt.Errorf("%w: %s"+format, append([]any{ErrConfig, e.name()}, args...)...))
	}
	if least, ok := e.tag.Lookup("least"); ok {
		bound, _ := strconv.ParseInt(least, 10, 64) // no error: the tag is a number
		unit, zero := strings.TrimSuffix(" "+e.tag.Get("unit"), " "), e.tag.Get("zero")
		if zero != "" {
			least = "0 (" + zero + ") or " + least
		}
		if n := e.value.Int(); n < bound && (n != 0 || zero == "") {
			fault(" is %d%s, must be %s or more", n, unit, least)
		}
	}
	if words, ok := e.tag.Lookup("one"); ok && !slices.Contains(strings.Fields(strings.NewReplacer(",", " ", " or ", " ").Replace(words)), e.value.String()) {
		fault(" is %q, must be %s", e.value, words)
	}
	if right, ok := forms[e.tag.Get("form")]; ok {
		texts, list := e.value.Interface().([]string)
		if !list && e.value.String() != "" {
			texts = []string{e.value.String()}
		}
		for _, text := range texts {
			if right(text) != nil {
				fault(": %q is no %s", text, e.tag.Get("form"))
			}
		}
	}
	return all
}

// Get returns a key's value as text, in the form that Set takes: as in the file, but strings without quotes.
func (c *Config) Get(name string) (string, error) {
	e, err := c.find(name)
	if err != nil {
		return "", err
	}
	if e.value.Kind() == reflect.String {
		return e.value.String(), nil
	}
	return literal(e.value), nil
}

// Value returns a key's value: a string, a bool, a number or a list of strings.
func (c *Config) Value(name string) (any, error) {
	e, err := c.find(name)
	if err != nil {
		return nil, err
	}
	return e.value.Interface(), nil
}

// Unset sets a key to its default, the value that it has if the file lacks it.
func (c *Config) Unset(name string) error {
	e, err := c.find(name)
	if err != nil {
		return err
	}
	d := defaults()
	from, _ := d.find(name) // no error: the key exists
	e.value.Set(from.value)
	return nil
}

// find returns the entry of a key.
func (c *Config) find(name string) (entry, error) {
	for _, e := range c.entries() {
		if e.name() == name {
			return e, nil
		}
	}
	return entry{}, fmt.Errorf("%w: unknown key %q; %s", ErrConfig, name, known(name))
}

// override sets the keys for which the environment has a variable, and checks c.
func (c *Config) override(lookup func(string) (string, bool)) error {
	for _, e := range c.entries() {
		if text, ok := lookup(e.variable()); ok {
			if err := e.set(text); err != nil {
				return fmt.Errorf("%s: %w", e.variable(), err)
			}
		}
	}
	return c.Check()
}

// Map returns c as nested maps, for JSON: a map of sections, each a map of keys.
func (c Config) Map() (out map[string]any) {
	if _, err := toml.Decode(c.String(), &out); err != nil {
		panic(err) // cannot be: String wrote the text
	}
	return out
}
