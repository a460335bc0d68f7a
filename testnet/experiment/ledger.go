package experiment

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// ledger keeps the rows of an experiment in its folder as they become known, a line of JSON each, so that a run that was
// interrupted goes on. Without a folder it keeps nothing.
type ledger struct {
	rows map[string]NetworkRow
	file *os.File
}

type ledgerLine struct {
	Point string     `json:"point"`
	Row   NetworkRow `json:"row"`
}

func openLedger(dir, name string) (*ledger, error) {
	l := &ledger{rows: map[string]NetworkRow{}}
	if dir == "" {
		return l, nil
	}
	if err := folder(dir); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(ledgerPath(dir, name), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, fmt.Errorf("experiment: %w", err)
	}
	l.file = f
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var line ledgerLine
		if json.Unmarshal(lines.Bytes(), &line) == nil { // a line cut short by a crash is run again
			l.rows[line.Point] = line.Row
		}
	}
	if err := lines.Err(); err != nil {
		f.Close()
		return nil, fmt.Errorf("experiment: %s: %w", f.Name(), err)
	}
	return l, nil
}

func (l *ledger) row(point string) (NetworkRow, bool) {
	r, ok := l.rows[point]
	return r, ok
}

// add notes a row. The line begins with a line break, in case the last one was cut short.
func (l *ledger) add(point string, r NetworkRow) error {
	if l.file == nil {
		return nil
	}
	b, err := json.Marshal(ledgerLine{point, r})
	if err == nil {
		_, err = l.file.Write(append(append([]byte("\n"), b...), '\n'))
	}
	if err != nil {
		return fmt.Errorf("experiment: %w", err)
	}
	return nil
}

func (l *ledger) close() {
	if l.file != nil {
		l.file.Close()
	}
}
