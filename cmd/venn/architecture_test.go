package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pages name packages, files and identifiers, which have to exist.
var pages = []string{"ARCHITECTURE.md", "CONTRIBUTING.md"}

var (
	quoted     = regexp.MustCompile("`([^` \n]+)`")
	pathName   = regexp.MustCompile(`^\.?[a-z]+(/[A-Za-z_.]+)+$`)
	identifier = regexp.MustCompile(`^([a-z]+)\.[A-Za-z]\w*(\.\w+)?$`)
)

func TestArchitectureNamesExist(t *testing.T) {
	root := filepath.Join("..", "..")
	packages, names := declared(t, root)
	for _, page := range pages {
		text := must(os.ReadFile(filepath.Join(root, page)))
		for _, m := range quoted.FindAllStringSubmatch(string(text), -1) {
			name := m[1]
			if pathName.MatchString(name) {
				if _, err := os.Stat(filepath.Join(root, name)); err != nil {
					t.Errorf("%s names `%s`, which is no folder or file", page, name)
				}
				continue
			}
			id := identifier.FindStringSubmatch(name)
			if id == nil || !packages[id[1]] && !ast.IsExported(strings.Split(name, ".")[1]) {
				continue // a command, a flag, a file at the root
			}
			if !names[name] {
				t.Errorf("%s names `%s`, which no package declares", page, name)
			}
		}
	}
}

// declared returns the names of the module's packages, and every name that one of them declares at top level: as
// package.Name, and for methods and fields as package.Type.Name.
func declared(t *testing.T, root string) (packages, names map[string]bool) {
	t.Helper()
	packages, names = make(map[string]bool), make(map[string]bool)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		pkg := file.Name.Name
		packages[pkg] = true
		for _, decl := range file.Decls {
			for _, n := range declaredBy(decl) {
				names[pkg+"."+n] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return packages, names
}

// declaredBy returns the names of a declaration, those of methods and fields behind their type's.
func declaredBy(decl ast.Decl) (names []string) {
	if f, ok := decl.(*ast.FuncDecl); ok {
		if f.Recv == nil {
			return []string{f.Name.Name}
		}
		t := f.Recv.List[0].Type
		if p, ok := t.(*ast.StarExpr); ok {
			t = p.X
		}
		if generic, ok := t.(*ast.IndexExpr); ok {
			t = generic.X
		}
		return []string{receiver(t) + "." + f.Name.Name}
	}
	for _, spec := range decl.(*ast.GenDecl).Specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			for _, n := range spec.Names {
				names = append(names, n.Name)
			}
		case *ast.TypeSpec:
			names = append(names, spec.Name.Name)
			for _, field := range fieldsOf(spec.Type) {
				for _, n := range field.Names {
					names = append(names, spec.Name.Name+"."+n.Name)
				}
			}
		}
	}
	return names
}

// fieldsOf returns the fields of a struct, or the methods of an interface.
func fieldsOf(t ast.Expr) []*ast.Field {
	switch t := t.(type) {
	case *ast.StructType:
		return t.Fields.List
	case *ast.InterfaceType:
		return t.Methods.List
	}
	return nil
}
