package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

// maxExported is the number of exported identifiers that summary and the packages below it may have.
const maxExported = 192

// exported is an identifier that a package offers, as go doc lists them. It is a constant, variable, type or function,
// or a method of an exported type. Fields of structs and methods of interfaces are part of their type and do not count.
// A method that is there for an interface of the standard library (String, Error, MarshalBinary, ...) counts, and as
// used. So does one of a filter that is there for bloom.Set, which an example uses, or a Merge as it says.
type exported struct {
	name string // as in summary.Prefix.Contains
	used bool
}

// library is the summary library as its users see it: identifiers by the place of their declaration.
type library map[string]*exported

// TestNarrowSummary holds the summary library to a number of identifiers, each with a user. A user is an example, or a
// package of this module or of testnet/bench other than the identifier's own. A type also counts as used if a used
// function or method takes or returns it.
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
	named, examples := map[string]bool{}, map[string]bool{}
	for _, p := range must(tested()) {
		for _, name := range p.Types.Scope().Names() {
			of := strings.TrimSuffix(p.PkgPath, "_test") + "."
			o, isType := p.Types.Scope().Lookup(name).(*types.TypeName)
			if example, ok := strings.CutPrefix(name, "Example"); ok {
				example, _, _ = strings.Cut(example, "_")
				examples[of+example] = true
			} else if isType && o.Exported() && !strings.Contains(of, "/internal/") && !strings.HasSuffix(p.Fset.Position(o.Pos()).Filename, "_test.go") {
				named[of+name] = true
			}
		}
	}
	for name := range named {
		if !examples[name] {
			t.Errorf("%s has no example of its own", name)
		}
	}
	if len(named) < 20 {
		t.Errorf("only %d exported types found", len(named))
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

// load type-checks packages of the module in a folder from their sources.
func load(dir string, tests bool, patterns ...string) ([]*packages.Package, error) {
	const what = packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo
	all, err := packages.Load(&packages.Config{Mode: what, Dir: dir, Tests: tests, BuildFlags: []string{"-trimpath=false"}}, patterns...)
	for _, p := range all {
		if len(p.Errors) > 0 && err == nil {
			err = p.Errors[0]
		}
	}
	return all, err
}

// The packages of this module, without tests, and those of the summary library with theirs.
var (
	sources = sync.OnceValues(func() ([]*packages.Package, error) { return load(filepath.Join("..", ".."), false, "./...") })
	tested  = sync.OnceValues(func() ([]*packages.Package, error) { return load(filepath.Join("..", ".."), true, "./summary/...") })
)

// readLibrary reads this module, the examples of the library, and testnet/bench. It skips the test where the modules of
// that are not at hand.
func readLibrary(t *testing.T) library {
	t.Helper()
	lib := library{}
	bench, err := load(filepath.Join("..", "..", "testnet", "bench"), false, "./...")
	if err != nil {
		t.Skip("the modules of testnet/bench are not here: ", err)
	}
	for _, p := range must(sources()) {
		if matches(module+"summary/...", p.PkgPath) && !strings.Contains(p.PkgPath, "/internal/") {
			lib.declare(p)
		}
	}
	examples := slices.DeleteFunc(slices.Clone(must(tested())), func(p *packages.Package) bool { return !strings.HasSuffix(p.PkgPath, "_test") })
	for _, p := range slices.Concat(must(sources()), bench, examples) {
		lib.use(p)
	}
	return lib
}

// place names the declaration of an identifier.
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

// declare adds the identifiers that a package exports.
func (lib library) declare(p *packages.Package) {
	pkg := strings.TrimPrefix(p.PkgPath, module)
	add := func(o types.Object, within string) (e *exported) {
		if o.Exported() {
			e = lib.at(p.Fset, o)
			e.name = pkg + "." + within + o.Name()
			e.used = e.used || within != "" && (slices.Contains(standard, o.Name()) || pkg == "summary/bloom" && slices.Contains(ofSets, o.Name()))
		}
		return e
	}
	for _, name := range p.Types.Scope().Names() {
		o := p.Types.Scope().Lookup(name)
		if of, isNamed := o.Type().(*types.Named); add(o, "") != nil && isNamed && o == of.Obj() {
			for m := range of.Methods() {
				add(m, name+".")
			}
		}
	}
}

// use marks what a package uses of the library's other packages. Of tests, only examples count.
func (lib library) use(p *packages.Package) {
	for _, f := range p.Syntax {
		inTest := strings.HasSuffix(p.Fset.Position(f.Pos()).Filename, "_test.go")
		for _, d := range f.Decls {
			if call, ok := d.(*ast.FuncDecl); ok && inTest && slices.ContainsFunc([]string{"Test", "Benchmark", "Fuzz"}, func(kind string) bool {
				return strings.HasPrefix(call.Name.Name, kind)
			}) {
				continue
			}
			ast.Inspect(d, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					lib.mark(p, p.TypesInfo.Uses[id])
				}
				return true
			})
		}
	}
}

// mark marks an identifier that a package uses, if it is of another package of the library.
func (lib library) mark(p *packages.Package, o types.Object) {
	if o == nil || o.Pkg() == nil || !o.Exported() || !matches(module+"summary/...", o.Pkg().Path()) || o.Pkg().Path() == p.PkgPath {
		return
	}
	if f, ok := o.(*types.Func); ok {
		o = f.Origin()
	}
	lib.at(p.Fset, o).used = true
	lib.useTypes(p.Fset, o.Type())
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
