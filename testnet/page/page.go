// Package page prints words and figures for people, within the width of their terminal.
//
// Lines break by one rule. A line that is too wide breaks at blanks. The rest is indented to the text after the
// line's first gap of two blanks, if that begins in the left half. Otherwise it is indented by four more than the
// line. A word that is wider than the terminal stays whole, so that it can be copied. In a table that is too wide,
// each row takes several lines, all rows divided at the same columns.
package page

import (
	"bytes"
	"io"
	"math"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// Page is a writer whose lines break at a width.
type Page struct {
	to    io.Writer
	width func() int // returns the width in characters; 0: lines do not break
	line  []byte     // begin of a line that has not ended
	Err   error      // first error of writing
}

// On returns a page on w. If w is a terminal, lines break at its width; otherwise they do not. If w is a page, On
// returns w. The text must end with a line break, or its last line is not written.
func On(w io.Writer) *Page {
	if p, ok := w.(*Page); ok {
		return p
	}
	p := &Page{to: w, width: func() int { return 0 }}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.width = func() int { width, _ := Size(f); return width }
	}
	return p
}

// Wide returns a page whose lines break at a width in characters; 0: they do not break.
func Wide(w io.Writer, width int) *Page { return &Page{to: w, width: func() int { return width }} }

// Size returns the number of characters in a line of a terminal, and its number of lines: 80 and 24 if they are not
// known.
func Size(f *os.File) (width, height int) {
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}

// Write writes the complete lines, and keeps the rest for its next call.
func (p *Page) Write(b []byte) (int, error) {
	p.line = append(p.line, b...)
	end := bytes.LastIndexByte(p.line, '\n') + 1
	if end == 0 {
		return len(b), nil
	}
	text := string(p.line[:end])
	p.line = append(p.line[:0], p.line[end:]...)
	if width := p.width(); width > 0 {
		var out strings.Builder
		for line := range strings.Lines(text) {
			fold(&out, strings.TrimSuffix(line, "\n"), width)
		}
		text = out.String()
	}
	if p.Err == nil {
		_, p.Err = io.WriteString(p.to, text)
	}
	return len(b), p.Err
}

// fold writes a line as several lines, if it is wider than width.
func fold(out *strings.Builder, line string, width int) {
	own := len(line) - len(strings.TrimLeft(line, " "))
	less, hang := own+4, own+4
	if gap := strings.Index(line[own:], "  "); gap >= 0 {
		rest := line[own+gap:]
		if at := utf8.RuneCountInString(line) - utf8.RuneCountInString(strings.TrimLeft(rest, " ")); at <= width/2 {
			hang = at
		}
	}
	for indent := 0; ; {
		if indent+utf8.RuneCountInString(line) <= width {
			out.WriteString(strings.Repeat(" ", indent) + line + "\n")
			return
		}
		first, rest := cut(line, width-indent)
		out.WriteString(strings.Repeat(" ", indent) + first + "\n")
		if rest == "" {
			return
		}
		line, indent = rest, hang
		if word, _, _ := strings.Cut(rest, " "); hang+utf8.RuneCountInString(word) > width {
			indent = min(less, hang)
		}
	}
}

// cut divides a line after the last word that ends within the width. If the first word is wider, it divides after that.
func cut(line string, width int) (first, rest string) {
	// end: bytes of the first part; at: characters passed; word: one of those passed is no blank
	end, at, word := -1, 0, false
	for i, r := range line {
		if r == ' ' && word && line[i-1] != ' ' {
			if at > width && end >= 0 {
				break
			}
			end = i
		}
		word, at = word || r != ' ', at+1
	}
	if end < 0 {
		return line, ""
	}
	return line[:end], strings.TrimLeft(line[end:], " ")
}

// Left is the value of Table's parameter right for tables with all text at the left of its column.
const Left = math.MaxInt

// Table writes rows, the head first, in columns with two blanks between them. In the columns from number right on,
// counted from 0, text is at the right of its column. If right is 0, a row begins with two blanks.
func Table(w io.Writer, right int, rows ...[]string) error {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	p := On(w)
	ends := divide(widths, right == 0, p.width())
	var out strings.Builder
	for _, row := range rows {
		first := 0
		for _, end := range ends {
			out.WriteString(aligned(row, widths, first, end, right))
			first = end
		}
	}
	_, err := io.WriteString(p, out.String())
	return err
}

const indent = 4 // indent of a row's lines after the first, in characters

// divide returns the ends of the pieces, as numbers of columns, into which a row is divided so that each fits the
// width. lead means that two blanks come before the first column.
func divide(widths []int, lead bool, width int) (ends []int) {
	first, used := 0, 0
	for i, n := range widths {
		if width > 0 && i > first && used+2+n > width {
			ends, first, used = append(ends, i), i, indent
		}
		if i > first || lead {
			used += 2
		}
		used += n
	}
	return append(ends, len(widths))
}

// aligned returns the columns first to end-1 of a row as a line.
func aligned(row []string, widths []int, first, end, right int) string {
	var b strings.Builder
	if first > 0 {
		b.WriteString(strings.Repeat(" ", indent))
	}
	for i := first; i < min(end, len(row)); i++ {
		if i > first || right == 0 {
			b.WriteString("  ")
		}
		pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(row[i]))
		if i >= right {
			b.WriteString(pad + row[i])
		} else {
			b.WriteString(row[i] + pad)
		}
	}
	return strings.TrimRight(b.String(), " ") + "\n"
}
