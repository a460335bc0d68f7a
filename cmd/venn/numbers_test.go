package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// TestNumbersDocumented: each number of overlay and routing stands in overlay/SENSITIVITY.md with its value, and there
// are at most 120. Numbers that follow from others do not count.
func TestNumbersDocumented(t *testing.T) {
	const root, most = "../..", 120
	doc, err := os.ReadFile(filepath.Join(root, "overlay/SENSITIVITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{} // "`overlay/bound.Few` | 64", or "`MaxKey` 1024" in the row of a package
	for row := range strings.Lines(string(doc)) {
		if cells := strings.Split(row, " | "); len(cells) > 1 {
			for number := range strings.SplitSeq(cells[1], "; ") {
				rows[cells[0]+" "+number] = true
			}
		}
	}
	all := numbers(t, root)
	for _, n := range all {
		dir, name, value := path.Dir(n[0]), n[1], n[2]
		if !rows["| `"+dir+"."+name+"` "+value] && !rows["| `"+dir+"` `"+name+"` "+value] {
			t.Errorf("overlay/SENSITIVITY.md does not say what half and twice of %s.%s, %s, do", dir, name, value)
		}
	}
	if len(all) > most {
		t.Errorf("%d numbers in overlay and routing, want at most %d", len(all), most)
	}
}

// numbers lists the constants of overlay and routing that are numbers of their own: file, name and value.
func numbers(t *testing.T, root string) (all [][3]string) {
	t.Helper()
	visit := func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasSuffix(d.Name(), "lab") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if g, ok := n.(*ast.GenDecl); ok && g.Tok == token.CONST {
				for _, s := range g.Specs {
					for i, v := range s.(*ast.ValueSpec).Values {
						if ownNumber(v) {
							rel, _ := filepath.Rel(root, file)
							all = append(all, [3]string{filepath.ToSlash(rel), s.(*ast.ValueSpec).Names[i].Name, types.ExprString(v)})
						}
					}
				}
			}
			return true
		})
		return nil
	}
	for _, dir := range []string{"overlay", "routing"} {
		if err := filepath.WalkDir(filepath.Join(root, dir), visit); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// ownNumber reports whether an expression is a number that refers to no other constant but a unit of time.
func ownNumber(e ast.Expr) bool {
	number, other := false, false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			unit := types.ExprString(n.X) == "time"
			number, other = number || unit, other || !unit
			return false
		case *ast.BasicLit:
			number = number || n.Kind == token.INT || n.Kind == token.FLOAT
		case *ast.Ident:
			other = true
		}
		return true
	})
	return number && !other
}
