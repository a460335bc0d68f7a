package experiment

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/venn-p2p/venn/testnet/page"
	"github.com/venn-p2p/venn/testnet/results"
	"github.com/venn-p2p/venn/testnet/results/report"
	"github.com/venn-p2p/venn/testnet/runs"
)

// write writes the rows and figures of all sessions, and the report that holds all of them.
func (r *run) write() ([]string, error) {
	out := report.Folder{Dir: r.options.Out}
	trials := "each number's own"
	if r.options.Trials > 0 {
		trials = strconv.Itoa(r.options.Trials)
	}
	page := report.Page{Version: r.options.Version, Title: "Numbers and figures of the papers, and ours", Name: All, Parameters: [][2]string{
		{"trials", trials},
		{"seed", strconv.FormatUint(r.options.Seed, 10)},
		{"program", runs.Program()},
	}}
	left := 0
	for _, s := range r.sessions {
		left += s.unfinished
	}
	page.Parameters = append(page.Parameters, report.Unfinished(len(r.tasks)-left, len(r.tasks))...)
	if len(r.sessions) == 1 {
		page.Name, page.Title = r.sessions[0].Name, r.sessions[0].Paper
	}
	for _, s := range r.sessions {
		if len(s.rows) == 0 {
			continue
		}
		out.CSV(s.Name+".csv", rowRecords(s.rows))
		part := report.Section{Title: fmt.Sprintf("%s: %s, %s", s.Name, s.Paper, s.Title), Table: rowTable(s.rows)}
		if s.figures != nil && s.unfinished == 0 {
			for _, f := range s.figures(s) {
				out.CSV(f.Name+".csv", f.Records())
				part.Drawings = append(part.Drawings, f)
			}
		}
		page.Sections = append(page.Sections, part)
	}
	var rows []Row
	var outcomes []results.Outcome
	for _, s := range r.sessions {
		rows = append(rows, s.rows...)
	}
	for _, row := range rows {
		outcomes = append(outcomes, results.Outcome{Case: strings.Join([]string{row.Paper, row.Table, row.Row}, ", "), Quantity: row.Quantity, Value: row.Measured, Trials: 1})
	}
	results.Found{Experiment: page.Name, Version: page.Version, Rows: rows, Outcomes: outcomes}.Write(&out)
	out.CSV("rows.csv", rowRecords(rows))
	out.Report(page)
	return out.Files, out.Err
}

// WriteText writes a row for every number, the counts of the verdicts, and the names of files.
func (r Result) WriteText(w io.Writer) error {
	if err := results.WriteTable(w, page.Left, rowTable(r.Rows)); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%d numbers: %d agree, %d misprints of the papers, %d differ\n",
		len(r.Rows), r.Count(Agrees), r.Count(Misprints), r.Count(Differs))
	return results.WriteFiles(w, r.Files)
}

// rowTable returns the table to read: few digits, and the reason where a paper is wrong.
func rowTable(rows []Row) report.Table {
	t := report.Table{Head: []string{"paper", "table", "row", "quantity", "printed", "measured", "tolerance", "verdict"}}
	for _, r := range rows {
		verdict := string(r.Verdict)
		if r.Reason != "" {
			verdict += ": " + r.Reason
		}
		t.Rows = append(t.Rows, []string{r.Paper, r.Table, r.Row, r.Quantity, report.Short(r.Printed), report.Short(r.Measured), report.Short(r.Tolerance), verdict})
	}
	return t
}

func rowRecords(rows []Row) [][]string {
	records := [][]string{{"paper", "table", "row", "quantity", "printed", "measured", "tolerance", "verdict", "reason"}}
	for _, r := range rows {
		records = append(records, []string{
			r.Paper, r.Table, r.Row, r.Quantity, report.Number(r.Printed), report.Number(r.Measured), report.Number(r.Tolerance), string(r.Verdict), r.Reason,
		})
	}
	return records
}
