// Package report draws the results of experiments, as SVG and as Vega-Lite. It writes the drawings and tables to a
// folder, with one page that holds all of them.
package report

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

//go:embed report.html.tmpl
var reportText string

var reportTemplate = template.Must(template.New("report").Parse(reportText))

// Page is an experiment's report for readers: one page with all tables and drawings.
type Page struct {
	Name, Title, Version string
	Parameters           [][2]string
	Sections             []Section
	Terms                [][2]string // the meaning of names in the tables; may be empty
}

// Machine names the machine on which the page was made, such as "linux/amd64, 2 processors, go1.26".
func (Page) Machine() string {
	return fmt.Sprintf("%s/%s, %d processors, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
}

// Section is a part of a page: a table, and drawings.
type Section struct {
	Title    string
	Table    Table
	Drawings []Drawing
	Plots    []Plot // the drawings as SVG, filled by Folder.Report
	Folded   bool   // hidden until a reader opens it
}

// Plot is a drawing on a page. File is the name of its files, without a suffix.
type Plot struct {
	File string
	SVG  template.HTML
}

// Table has a head, and rows with as many cells.
type Table struct {
	Head []string
	Rows [][]string
}

// Filled returns the table without the columns whose cells are all empty.
func (t Table) Filled() (out Table) {
	out.Rows = make([][]string, len(t.Rows))
	for col, head := range t.Head {
		if !slices.ContainsFunc(t.Rows, func(row []string) bool { return row[col] != "" }) {
			continue
		}
		out.Head = append(out.Head, head)
		for i, row := range t.Rows {
			out.Rows[i] = append(out.Rows[i], row[col])
		}
	}
	return out
}

// Unfinished returns a report's note about an experiment that was interrupted.
func Unfinished(done, of int) [][2]string {
	if done == of {
		return nil
	}
	return [][2]string{{"interrupted", fmt.Sprintf("after %d of %d runs", done, of)}}
}

// Cell is a cell of a table. Numbers are aligned to the right.
type Cell struct {
	Text   string
	Number bool
}

var numeric = regexp.MustCompile(`^[-+]?[0-9.]+(e[-+]?[0-9]+)?( ±.*)?$`)

// Cells returns the cells of the table, with the head as the first row. A column has numbers if each of its cells is
// a number or empty.
func (t Table) Cells() [][]Cell {
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

// Folder writes files to a folder that exists, until the first error.
type Folder struct {
	Dir   string
	Files []string
	Err   error
}

// fail notes the error of making a file, unless there was an error before.
func (o *Folder) fail(name string, err error) {
	if err != nil && o.Err == nil {
		o.Err = fmt.Errorf("experiment: %s: %w", name, err)
	}
}

// Write writes a file, unless there was an error before.
func (o *Folder) Write(name string, b []byte) {
	if o.Err != nil {
		return
	}
	path := filepath.Join(o.Dir, name)
	if err := os.WriteFile(path, b, 0o666); err != nil {
		o.Err = fmt.Errorf("experiment: %w", err)
		return
	}
	o.Files = append(o.Files, path)
}

// CSV writes records as a CSV file.
func (o *Folder) CSV(name string, records [][]string) {
	var b bytes.Buffer
	o.fail(name, csv.NewWriter(&b).WriteAll(records))
	o.Write(name, b.Bytes())
}

// JSON writes a value as an indented JSON file.
func (o *Folder) JSON(name string, v any) {
	b, err := json.MarshalIndent(v, "", " ")
	o.fail(name, err)
	o.Write(name, append(b, '\n'))
}

// plotted matches a plot's file in report.html.
var plotted = regexp.MustCompile(`<figure id="([^"]+)">`)

// Report writes the drawings as files, and report.html with all of the page. It removes the drawings of the report that
// was there before.
func (o *Folder) Report(r Page) {
	before, _ := os.ReadFile(filepath.Join(o.Dir, "report.html")) // without it, there are no drawings to remove
	for _, m := range plotted.FindAllSubmatch(before, -1) {
		for _, suffix := range []string{".svg", ".vl.json"} {
			_ = os.Remove(filepath.Join(o.Dir, filepath.Base(html.UnescapeString(string(m[1])))+suffix)) // it may be gone already
		}
	}
	r.Title = strings.ToUpper(r.Title[:1]) + r.Title[1:]
	for i := range r.Sections {
		s := &r.Sections[i]
		for _, d := range s.Drawings {
			svg := d.SVG()
			o.Write(d.file()+".svg", svg)
			if f, ok := d.(Figure); ok {
				spec, err := f.vega()
				o.fail(d.file(), err)
				o.Write(d.file()+".vl.json", spec)
			}
			s.Plots = append(s.Plots, Plot{d.file(), template.HTML(svg)})
		}
	}
	var b bytes.Buffer
	o.fail("report.html", reportTemplate.Execute(&b, r))
	o.Write("report.html", b.Bytes())
}
