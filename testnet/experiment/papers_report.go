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

// page returns a section for each session, whose rows and figures it writes as files besides.
func (r *run) page(out *report.Folder) report.Page {
	trials := "each number's own"
	if r.options.Trials > 0 {
		trials = strconv.Itoa(r.options.Trials)
	}
	page := report.Page{Title: "Numbers and figures of the papers, and ours", Name: All, Parameters: [][2]string{
		{"trials", trials},
		{"seed", strconv.FormatUint(r.options.Seed, 10)},
		{"program", runs.Program()},
	}}
	if len(r.sessions) == 1 {
		page.Name, page.Title = r.sessions[0].Name, r.sessions[0].Paper
	}
	for _, s := range r.sessions {
		if len(s.Rows) == 0 {
			continue
		}
		out.CSV(s.Name+".csv", PaperRows(s.Rows).records())
		part := report.Section{Title: fmt.Sprintf("%s: %s, %s", s.Name, s.Paper, s.Title), Table: rowTable(s.Rows)}
		if s.figures != nil && s.unfinished == 0 {
			for _, f := range s.figures(s) {
				out.CSV(f.Name+".csv", f.Records())
				part.Drawings = append(part.Drawings, f)
			}
		}
		page.Sections = append(page.Sections, part)
	}
	return page
}

func (r PaperRows) outcomes() (out []results.Outcome) {
	for _, row := range r {
		out = append(out, results.Outcome{Case: strings.Join([]string{row.Paper, row.Table, row.Row}, ", "), Quantity: row.Quantity, Value: row.Measured, Trials: 1})
	}
	return out
}

// writeText writes a row for every number, and the counts of the verdicts.
func (r PaperRows) writeText(w io.Writer) error {
	if err := results.WriteTable(w, page.Left, rowTable(r)); err != nil {
		return err
	}
	of := Result{Rows: r}
	_, err := fmt.Fprintf(w, "\n%d numbers: %d agree, %d misprints of the papers, %d differ\n", len(r), of.Count(Agrees), of.Count(Misprints), of.Count(Differs))
	return err
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

func (r PaperRows) records() [][]string {
	records := [][]string{{"paper", "table", "row", "quantity", "printed", "measured", "tolerance", "verdict", "reason"}}
	for _, x := range r {
		records = append(records, []string{
			x.Paper, x.Table, x.Row, x.Quantity, report.Number(x.Printed), report.Number(x.Measured), report.Number(x.Tolerance), string(x.Verdict), x.Reason,
		})
	}
	return records
}
