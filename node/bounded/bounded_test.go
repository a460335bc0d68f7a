package bounded

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLines(t *testing.T) {
	broken := errors.New("broken")
	long := strings.Repeat("x", MaxBytes)
	for name, c := range map[string]struct {
		in   io.Reader
		want []string
		err  string
	}{
		"empty":               {strings.NewReader(""), nil, ""},
		"ends":                {strings.NewReader("a\r\n\n b\rc\nd"), []string{"a", "", " b\rc", "d"}, ""},
		"last end":            {strings.NewReader("a\n"), []string{"a"}, ""},
		"byte order mark":     {strings.NewReader("\ufeffa\n\ufeffb"), []string{"a", "\ufeffb"}, ""},
		"byte order mark, no": {strings.NewReader("\ufeff"), []string{""}, ""},
		"longest":             {strings.NewReader("a\n" + long + "\r\nb"), []string{"a", long, "b"}, ""},
		"too long":            {strings.NewReader("a\n" + long + "x\nb"), []string{"a"}, "f:2: more than 1048576 bytes"},
		"cut":                 {io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), []string{"a"}, "f:2: broken"},
		"cut by an end":       {io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(fmt.Errorf("cut: %w", io.EOF))), []string{"a"}, "f:2: cut: EOF"},
		"refused":             {strings.NewReader("a\nstop\nb"), []string{"a", "stop"}, "stopped"},
	} {
		var got []string
		err := Lines("f", c.in, func(number int, line []byte) error {
			got = append(got, string(line))
			if number != len(got) {
				t.Errorf("%s: line %d has the number %d", name, len(got), number)
			}
			if string(line) == "stop" {
				return errors.New("stopped")
			}
			return nil
		})
		if text := fmt.Sprint(err); strings.Join(got, "|") != strings.Join(c.want, "|") || len(got) != len(c.want) || text != c.err && (err != nil || c.err != "") {
			t.Errorf("%s: %d lines and %v, want %d and %s", name, len(got), err, len(c.want), c.err)
		}
	}
	if err := At("", 7, broken); err.Error() != "line 7: broken" || !errors.Is(err, broken) {
		t.Error(err)
	}
}

func TestReadFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	for size, fine := range map[int]bool{0: true, MaxBytes: true, MaxBytes + 1: false} {
		if err := os.WriteFile(name, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := ReadFile(name)
		if fine != (err == nil) || fine && len(b) != size || !fine && !errors.Is(err, ErrTooLong) {
			t.Errorf("%d bytes: %d, %v", size, len(b), err)
		}
	}
	if _, err := ReadFile(name + "-"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
