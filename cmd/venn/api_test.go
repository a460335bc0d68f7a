package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxExported is the number of exported identifiers that summary and the packages below it may have.
const maxExported = 190

// exported is an identifier that a package offers, as go doc lists them. It is a constant, variable, type or function,
// or a method of an exported type. Fields of structs and methods of interfaces are part of their type and do not count.
// A method that is there for an interface of the standard library (String, Error, MarshalBinary, ...) counts, and as
// used. So does one of a filter that is there for bloom.Set, which an example uses, or a Merge as it says.
type exported struct {
	name string // as in summary.Prefix.Contains
	doc  bool
	used bool
}

// library is the summary library as its users see it: identifiers by the place of their declaration.
type library map[string]*exported

// TestNarrowSummary holds the summary library to a number of identifiers, each documented and each with a user. A user
// is an example, or a package of this module or of testnet/bench other than the identifier's own. A type also counts as
// used if a used function or method takes or returns it.
func TestNarrowSummary(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("type-checks the module from its sources")
	}
	lib := readLibrary(t)
	var unused []string
	for _, e := range lib {
		if e.name == "" {
			continue // a field, or what an internal package exports
		}
		if !e.used {
			unused = append(unused, e.name)
		}
		if !e.doc {
			t.Errorf("%s has no doc comment", e.name)
		}
	}
	slices.Sort(unused)
	if len(unused) > 0 {
		t.Errorf("%d exported without a user outside its package and tests:\n  %s", len(unused), strings.Join(unused, "\n  "))
	}
	if n := lib.count(); n > maxExported {
		t.Errorf("%d exported identifiers in summary and below, at most %d wanted", n, maxExported)
	} else {
		t.Logf("%d exported identifiers in summary and below", n)
	}
}

// TestExamples holds every exported type of the summary library to an example of its own: ExampleT or
// ExampleT_something.
func TestExamples(t *testing.T) {
	root := filepath.Join("..", "..", "summary")
	types, examples := map[string][]string{}, map[string]map[string]bool{} // by folder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.Contains(path, "internal") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		folder, test := filepath.Dir(path), strings.HasSuffix(path, "_test.go")
		if examples[folder] == nil {
			examples[folder] = map[string]bool{}
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if name, ok := strings.CutPrefix(d.Name.Name, "Example"); ok && test {
					name, _, _ = strings.Cut(name, "_")
					examples[folder][name] = true
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok && spec.Name.IsExported() && !test {
						types[folder] = append(types[folder], spec.Name.Name)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	all := 0
	for folder, names := range types {
		all += len(names)
		for _, name := range names {
			if !examples[folder][name] {
				t.Errorf("%s: no Example%s", folder, name)
			}
		}
	}
	if all < 20 {
		t.Errorf("only %d exported types found", all)
	}
}

func (lib library) count() int {
	n := 0
	for _, e := range lib {
		if e.name != "" {
			n++
		}
	}
	return n
}

// standard are the methods that the standard library calls through its interfaces.
var standard = []string{
	"String", "Error", "Unwrap", "Is", "MarshalBinary", "AppendBinary", "UnmarshalBinary", "MarshalJSON", "UnmarshalJSON",
	"MarshalText", "UnmarshalText", "WriteTo", "ReadFrom",
}

// ofSets are the methods that programs call through bloom.Set, and Merge, which all sets have.
var ofSets = []string{"Add", "AddHash", "TestAndAdd", "Contains", "ContainsHash", "FalsePositiveRate", "SizeBytes", "Reset", "Merge"}

// listedSource is a package as go list sees it.
type listedSource struct {
	ImportPath, Dir, Export string
	GoFiles, XTestGoFiles   []string
	DepOnly                 bool
}

// readLibrary type-checks this module and testnet/bench. It skips the test where the modules of that are not at hand.
func readLibrary(t *testing.T) library {
	t.Helper()
	lib := library{}
	root := filepath.Join("..", "..")
	for _, dir := range []string{root, filepath.Join(root, "testnet", "bench")} {
		sources, err := list(dir)
		if err != nil && dir != root {
			t.Skip("the modules of testnet/bench are not here: ", err)
		} else if err != nil {
			t.Fatal(err)
		}
		exports := map[string]string{}
		for _, s := range sources {
			exports[s.ImportPath] = s.Export
		}
		for _, s := range sources {
			if strings.HasPrefix(s.ImportPath, module) && (dir == root || !s.DepOnly) {
				lib.read(t, s, exports)
			}
		}
	}
	return lib
}

// list is go list of the packages in dir and all that they and their tests import, with export data.
func list(dir string) ([]listedSource, error) {
	cmd := exec.Command("go", "list", "-trimpath=false", "-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles,XTestGoFiles,DepOnly", "./...")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w\n%s", dir, err, stderr.Bytes())
	}
	var all []listedSource
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var s listedSource
		if err := d.Decode(&s); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list in %s: %w", dir, err)
		}
		all = append(all, s)
	}
}

// read adds what s declares, if it is of the library, and marks what it uses.
func (lib library) read(t *testing.T, s listedSource, exports map[string]string) {
	t.Helper()
	own := matches(module+"summary/...", s.ImportPath)
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(exports[path])
	})
	check := func(path string, names []string, pick func(ast.Decl) bool) (*types.Package, *types.Info, []*ast.File) {
		var files []*ast.File
		for _, name := range names {
			f := must(parser.ParseFile(fset, filepath.Join(s.Dir, name), nil, parser.ParseComments))
			f.Decls = slices.DeleteFunc(f.Decls, func(d ast.Decl) bool { return !pick(d) })
			files = append(files, f)
		}
		info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
		conf := types.Config{Importer: imports, Error: func(error) {}}
		pkg, _ := conf.Check(path, fset, files, info)
		return pkg, info, files
	}
	_, info, files := check(s.ImportPath, s.GoFiles, func(ast.Decl) bool { return true })
	if own && !strings.Contains(s.ImportPath, "/internal/") {
		lib.declare(fset, info, files, strings.TrimPrefix(s.ImportPath, module))
	}
	lib.use(fset, info, strings.TrimPrefix(s.ImportPath, module))
	if own {
		_, info, _ = check(s.ImportPath+"_test", s.XTestGoFiles, func(d ast.Decl) bool {
			f, ok := d.(*ast.FuncDecl)
			return !ok || !slices.ContainsFunc([]string{"Test", "Benchmark", "Fuzz"}, func(kind string) bool {
				return strings.HasPrefix(f.Name.Name, kind)
			})
		})
		lib.use(fset, info, "")
	}
}

func place(fset *token.FileSet, o types.Object) string {
	p := fset.Position(o.Pos())
	return fmt.Sprintf("%s:%d %s", p.Filename, p.Line, o.Name())
}

func (lib library) at(fset *token.FileSet, o types.Object) *exported {
	key := place(fset, o)
	if lib[key] == nil {
		lib[key] = &exported{}
	}
	return lib[key]
}

// declare adds the identifiers that the files export.
func (lib library) declare(fset *token.FileSet, info *types.Info, files []*ast.File, pkg string) {
	add := func(id *ast.Ident, within string, doc ...*ast.CommentGroup) {
		if !id.IsExported() {
			return
		}
		e := lib.at(fset, info.Defs[id])
		e.name = pkg + "." + within + id.Name
		e.doc = slices.ContainsFunc(doc, func(d *ast.CommentGroup) bool { return d != nil })
		e.used = e.used || within != "" && (slices.Contains(standard, id.Name) || pkg == "summary/bloom" && slices.Contains(ofSets, id.Name))
	}
	for _, f := range files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				within := ""
				if d.Recv != nil {
					within = receiver(d.Recv.List[0].Type) + "."
					if !ast.IsExported(within) {
						continue
					}
				}
				add(d.Name, within, d.Doc)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.ValueSpec:
						for _, id := range spec.Names {
							add(id, "", d.Doc, spec.Doc, spec.Comment)
						}
					case *ast.TypeSpec:
						add(spec.Name, "", d.Doc, spec.Doc)
					}
				}
			}
		}
	}
}

func receiver(e ast.Expr) string {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	return e.(*ast.Ident).Name
}

// use marks what info's package, named pkg, uses of the library's other packages.
func (lib library) use(fset *token.FileSet, info *types.Info, pkg string) {
	for _, o := range info.Uses {
		if o.Pkg() == nil || !o.Exported() || !matches(module+"summary/...", o.Pkg().Path()) || o.Pkg().Path() == module+pkg {
			continue
		}
		if f, ok := o.(*types.Func); ok {
			o = f.Origin()
		}
		lib.at(fset, o).used = true
		lib.useTypes(fset, o.Type())
	}
}

// useTypes marks the library's types that a function takes or returns, or that a variable or constant has.
func (lib library) useTypes(fset *token.FileSet, t types.Type) {
	switch t := t.(type) {
	case *types.Signature:
		for _, tuple := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range tuple.Variables() {
				lib.useTypes(fset, v.Type())
			}
		}
		if r := t.Recv(); r != nil {
			lib.useTypes(fset, r.Type())
		}
	case *types.Pointer:
		lib.useTypes(fset, t.Elem())
	case *types.Slice:
		lib.useTypes(fset, t.Elem())
	case *types.Named:
		if o := t.Obj(); o.Pkg() != nil && matches(module+"summary/...", o.Pkg().Path()) {
			lib.at(fset, o).used = true
		}
	}
}
