package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// riddle matches comments such as "X is how many …" and "X are those of …": they leave the noun to the reader.
var riddle = regexp.MustCompile(`^(//|/\*)\s*\w+ (is|are) (what|how|who|those|whether|when|where|why)\b`)

// TestCommentsNameThings holds the comments of the code, tests aside, to "verb first, the noun named".
func TestCommentsNameThings(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, group := range file.Comments {
			if first := group.List[0]; riddle.MatchString(first.Text) {
				t.Errorf("%s: %q: say what it does, returns or counts, with the noun and the unit", fset.Position(first.Pos()), strings.SplitN(first.Text, "\n", 2)[0])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
