package experiment

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

//go:embed report.html.tmpl
var reportText string

var reportTemplate = template.Must(template.New("report").Parse(reportText))

// report is what an experiment leaves to be read: one page that holds everything.
type report struct {
	Name, Title, Version string
	Parameters           [][2]string
	Sections             []section
	Terms                [][2]string // what names in the tables mean; may be empty
}

type section struct {
	Title    string
	Table    table
	Drawings []drawing
	Plots    []template.HTML // the drawings, drawn
	Folded   bool            // shown when asked for
}

type table struct {
	Head []string
	Rows [][]string
}

// unfinished is what a report says of an experiment that was interrupted.
func unfinished(done, of int) [][2]string {
	if done == of {
		return nil
	}
	return [][2]string{{"interrupted", fmt.Sprintf("after %d of %d runs", done, of)}}
}

// Cell of a table: numbers stand on the right.
type Cell struct {
	Text   string
	Number bool
}

var numeric = regexp.MustCompile(`^[-+]?[0-9.]+(e[-+]?[0-9]+)?( ±.*)?$`)

// Cells are the rows; a column of which all that is not empty are numbers is one of numbers. The head is the first row.
func (t table) Cells() [][]Cell {
	out := [][]Cell{make([]Cell, len(t.Head))}
	for range t.Rows {
		out = append(out, make([]Cell, len(t.Head)))
	}
	for col, head := range t.Head {
		number := true
		for _, r := range t.Rows {
			number = number && (r[col] == "" || numeric.MatchString(r[col]))
		}
		out[0][col] = Cell{head, number}
		for i, r := range t.Rows {
			out[i+1][col] = Cell{r[col], number}
		}
	}
	return out
}

// output writes files into a folder, up to the first error.
type output struct {
	dir   string
	files []string
	err   error
}

func (o *output) write(name string, b []byte) {
	if o.err != nil {
		return
	}
	path := filepath.Join(o.dir, name)
	if err := os.WriteFile(path, b, 0o666); err != nil {
		o.err = fmt.Errorf("experiment: %w", err)
		return
	}
	o.files = append(o.files, path)
}

func (o *output) csv(name string, records [][]string) {
	var b bytes.Buffer
	if err := writeCSV(&b, records); err != nil && o.err == nil {
		o.err = fmt.Errorf("experiment: %s: %w", name, err)
	}
	o.write(name, b.Bytes())
}

// report writes the drawings and the page that holds them.
func (o *output) report(r report) {
	r.Title = strings.ToUpper(r.Title[:1]) + r.Title[1:]
	for i := range r.Sections {
		s := &r.Sections[i]
		for _, d := range s.Drawings {
			var svg bytes.Buffer
			if err := d.svg(&svg); err != nil && o.err == nil {
				o.err = fmt.Errorf("experiment: %s: %w", d.file(), err)
			}
			o.write(d.file()+".svg", svg.Bytes())
			if f, ok := d.(figure); ok {
				spec, err := f.vega()
				if err != nil && o.err == nil {
					o.err = fmt.Errorf("experiment: %s: %w", d.file(), err)
				}
				o.write(d.file()+".vl.json", spec)
			}
			s.Plots = append(s.Plots, inline(svg.Bytes()))
		}
	}
	var b bytes.Buffer
	if err := reportTemplate.Execute(&b, r); err != nil && o.err == nil {
		o.err = fmt.Errorf("experiment: report.html: %w", err)
	}
	o.write("report.html", b.Bytes())
}

// inline is an SVG file without what must not stand within a page.
func inline(svg []byte) template.HTML {
	if i := bytes.Index(svg, []byte("<svg")); i > 0 {
		svg = svg[i:]
	}
	return template.HTML(svg)
}
