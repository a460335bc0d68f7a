package node

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxExported is how many functions, types and methods the package may export. It only ever goes down.
const maxExported = 86

// TestAPI counts what the package exports.
func TestAPI(t *testing.T) {
	names := exported(t)
	if len(names) > maxExported {
		t.Errorf("%d functions, types and methods are exported, at most %d may be:\n%s", len(names), maxExported, strings.Join(names, "\n"))
	}
	t.Logf("%d functions, types and methods are exported", len(names))
}

// TestAPIHasNoCores: what is exported speaks in the types of libp2p and of this package, not in those of the cores.
func TestAPIHasNoCores(t *testing.T) {
	set, all := declarations(t)
	for _, d := range all {
		if len(exportedBy(d)) == 0 {
			continue
		}
		if f, ok := d.(*ast.FuncDecl); ok {
			noCores(t, set, f.Type)
			continue
		}
		for _, s := range d.(*ast.GenDecl).Specs {
			if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() {
				noCores(t, set, s.Type)
			}
		}
	}
}

// declarations returns the declarations of the package in this folder, without its tests.
func declarations(t *testing.T) (set *token.FileSet, all []ast.Decl) {
	t.Helper()
	set = token.NewFileSet()
	notTest := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
	pkgs, err := parser.ParseDir(set, ".", notTest, 0) //nolint:staticcheck // build tags do not matter here
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range pkgs["node"].Files {
		all = append(all, f.Decls...)
	}
	return set, all
}

// noCores looks at the types of a signature, or of a struct's exported fields.
func noCores(t *testing.T, set *token.FileSet, n ast.Node) {
	t.Helper()
	if s, ok := n.(*ast.StructType); ok {
		for _, f := range s.Fields.List {
			if len(f.Names) == 0 || f.Names[0].IsExported() {
				noCores(t, set, f.Type)
			}
		}
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if pkg, ok := s.X.(*ast.Ident); ok && slices.Contains([]string{"overlay", "routing", "tails", "core"}, pkg.Name) {
			t.Errorf("%s: %s.%s", set.Position(n.Pos()), pkg.Name, s.Sel.Name)
		}
		return true
	})
}

// exported returns the functions, types and methods that the package in this folder exports, sorted.
func exported(t *testing.T) (names []string) {
	t.Helper()
	_, all := declarations(t)
	for _, d := range all {
		names = append(names, exportedBy(d)...)
	}
	slices.Sort(names)
	return names
}

func exportedBy(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		receiver := ""
		if d.Recv != nil {
			t := d.Recv.List[0].Type
			if star, ok := t.(*ast.StarExpr); ok {
				t = star.X
			}
			if generic, ok := t.(*ast.IndexExpr); ok {
				t = generic.X
			}
			receiver = t.(*ast.Ident).Name + "."
		}
		if d.Name.IsExported() && (receiver == "" || ast.IsExported(receiver)) {
			names = append(names, receiver+d.Name.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() {
				names = append(names, s.Name.Name)
			}
		}
	}
	return names
}

// TestAPIIsUsed: what is exported is used by the daemon, its HTTP, the testnet, the test kit or an example.
func TestAPIIsUsed(t *testing.T) {
	var text strings.Builder
	for _, pattern := range []string{"example_test.go", "*_example_test.go", "httpapi/*.go", "store/*.go", "nodelab/*.go", "../cmd/venn/*.go", "../cmd/venn/*/*.go", "../testnet/*.go", "../testnet/*/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, name := range files {
			b := must(os.ReadFile(name))
			text.Write(b)
		}
	}
	for _, name := range exported(t) {
		_, last, method := strings.Cut(name, ".")
		if !method {
			last = name
		}
		if !strings.Contains(text.String(), "."+last) && !returned[name] {
			t.Errorf("%s is used nowhere", name)
		}
	}
}

// returned are types that callers use without naming them, and methods that interfaces of others ask for.
var returned = map[string]bool{"Option": true, "Node.ProvideOnce": true, "Node.Clear": true, "Node.RefreshSchedule": true}
