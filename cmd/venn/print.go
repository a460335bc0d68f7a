package main

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/testnet/page"
)

// visible returns a text with escapes for all unprintable characters: no terminal obeys it, and it is one line. Names
// of files and texts of peers may have any bytes.
func visible(s string) string {
	if !strings.ContainsFunc(s, unprintable) {
		return s
	}
	quoted := strconv.Quote(s)
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(quoted[1 : len(quoted)-1])
}

func unprintable(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }

// visibleIn applies visible to all strings that the pointer v leads to. It leaves alone what has a text of its own: a
// peer's id is bytes, and its text is printable.
func visibleIn(v reflect.Value) {
	if _, is := v.Interface().(encoding.TextMarshaler); is && v.Kind() == reflect.String {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			visibleIn(v.Elem())
		}
	case reflect.String:
		v.SetString(visible(v.String()))
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			visibleIn(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				visibleIn(v.Field(i))
			}
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			key, value := reflect.New(k.Type()).Elem(), reflect.New(v.Type().Elem()).Elem()
			key.Set(k)
			value.Set(v.MapIndex(k))
			visibleIn(key)
			visibleIn(value)
			v.SetMapIndex(k, reflect.Value{})
			v.SetMapIndex(key, value)
		}
	case reflect.Interface:
		if s, ok := v.Interface().(string); ok {
			v.Set(reflect.ValueOf(visible(s)))
		}
	}
}

// textOfError returns the visible text of an error. Only joined errors have lines of their own: a name in an error, of
// whatever characters, begins none.
func textOfError(err error) string {
	var parts []error
	switch e := err.(type) { //nolint:errorlint // the wrapped ones follow
	case interface{ Unwrap() []error }:
		parts = e.Unwrap()
	case interface{ Unwrap() error }:
		parts = []error{e.Unwrap()}
	}
	var out strings.Builder
	rest := err.Error()
	for _, part := range parts {
		if part == nil {
			continue
		}
		if before, after, ok := strings.Cut(rest, part.Error()); ok {
			out.WriteString(visibleBetween(before) + textOfError(part))
			rest = after
		}
	}
	return out.String() + visibleBetween(rest)
}

// visibleBetween returns the visible form of what an error says beside those that it wraps: errors.Join says "\n".
func visibleBetween(text string) string {
	if text == "\n" {
		return text
	}
	return visible(text)
}

// complain prints lines for people on w, with venn's name before the first.
func complain(w io.Writer, text string) {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = visible(lines[i])
	}
	fmt.Fprintln(page.On(w), "venn:", strings.Join(lines, "\n"))
}

// writeJSON writes v as one line of JSON. It escapes unprintable characters.
func writeJSON(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if !bytes.ContainsFunc(b, unprintable) {
		_, err = w.Write(append(b, '\n'))
		return err
	}
	var line strings.Builder
	for _, r := range string(b) {
		if unicode.IsPrint(r) {
			line.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&line, `\u%04x`, unit)
		}
	}
	_, err = fmt.Fprintln(w, line.String())
	return err
}

// output returns the writer for a command's output. It breaks lines for people, not in JSON.
func output(c *cli.Command) io.Writer {
	if c.Bool("json") {
		return c.Root().Writer
	}
	return page.On(c.Root().Writer)
}

// show writes v as JSON if --json is set; else it calls text.
func show(c *cli.Command, v any, text func(w io.Writer) error) error {
	if c.Bool("json") {
		return writeJSON(output(c), v)
	}
	return text(output(c))
}

// say writes v as JSON if --json is set, else a formatted line.
func say(c *cli.Command, v any, format string, args ...any) error {
	return show(c, v, func(w io.Writer) error { _, err := fmt.Fprintf(w, format+"\n", args...); return err })
}

// showIndented does the same as show for reports, whose JSON has an indentation.
func showIndented(c *cli.Command, v any, text func(w io.Writer) error) error {
	if !c.Bool("json") {
		return text(output(c))
	}
	e := json.NewEncoder(output(c))
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// tableOf writes a table with a row for each element of a list, under a heading that has | between its columns.
func tableOf[T any](w io.Writer, heading string, list []T, row func(T) []any) error {
	rows := [][]string{strings.Split(heading, "|")}
	for _, x := range list {
		var cells []string
		for _, cell := range row(x) {
			cells = append(cells, fmt.Sprint(cell))
		}
		rows = append(rows, cells)
	}
	return page.Table(w, page.Left, rows...)
}
