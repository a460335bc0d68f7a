package page

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"short", "short\n"},
		{"one two three four", "one two\n    three\n    four\n"},
		{"a  one two three", "a  one two\n   three\n"},
		{"label     value-of-ten", "label\n    value-of-ten\n"},
		{"  a  one two three", "  a  one\n     two\n     three\n"},
		{"wider-than-all-of-it", "wider-than-all-of-it\n"},
		{"wider-than-all-of-it so", "wider-than-all-of-it\n    so\n"},
		{"", "\n"},
		{"äöü äöü äöü", "äöü äöü\n    äöü\n"},
	} {
		var b bytes.Buffer
		fmt.Fprintln(Wide(&b, 10), c.in)
		if b.String() != c.want {
			t.Errorf("%q: %q, want %q", c.in, b.String(), c.want)
		}
	}
}

// TestPieces writes a line in pieces: it breaks as one.
func TestPieces(t *testing.T) {
	var b bytes.Buffer
	p := Wide(&b, 10)
	fmt.Fprint(p, "one two ")
	fmt.Fprint(p, "three\nfour\n")
	if want := "one two\n    three\nfour\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestTable(t *testing.T) {
	rows := [][]string{{"NAME", "A", "B"}, {"x", "1", "22"}, {"longer", "333", "4"}}
	for _, c := range []struct {
		right int
		width int
		want  string
	}{
		{Left, 0, "NAME    A    B\nx       1    22\nlonger  333  4\n"},
		{0, 0, "    NAME    A   B\n       x    1  22\n  longer  333   4\n"},
		{1, 0, "NAME      A   B\nx         1  22\nlonger  333   4\n"},
		{Left, 12, "NAME    A\n    B\nx       1\n    22\nlonger  333\n    4\n"},
	} {
		var b bytes.Buffer
		if err := Table(Wide(&b, c.width), c.right, rows...); err != nil || b.String() != c.want {
			t.Errorf("%d columns: %q, %v, want %q", c.width, b.String(), err, c.want)
		}
	}
}

// TestNothingIsLost: whatever the line and the width, words stay whole and in order, and a line is wider only where it
// is one word.
func TestNothingIsLost(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		var in strings.Builder
		for range rng.IntN(12) {
			in.WriteString(strings.Repeat(" ", rng.IntN(4)) + strings.Repeat("x", rng.IntN(15)))
		}
		width := 1 + rng.IntN(40)
		var b bytes.Buffer
		fmt.Fprintln(Wide(&b, width), in.String())
		if got, want := strings.Fields(b.String()), strings.Fields(in.String()); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Fatalf("%q at %d became %q", in.String(), width, b.String())
		}
		for line := range strings.Lines(b.String()) {
			if len(line)-1 > width && len(strings.Fields(line)) > 1 {
				t.Fatalf("%q at %d has the line %q", in.String(), width, line)
			}
		}
	}
}
