package main

import (
	"go/ast"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	named := make(map[string][]*types.Package)
	for _, p := range must(sources()) {
		named[p.Name] = append(named[p.Name], p.Types)
	}
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
			parts := strings.Split(name, ".")
			if !identifier.MatchString(name) || named[parts[0]] == nil && !ast.IsExported(parts[1]) {
				continue // a command, a flag, a file at the root
			}
			if !slices.ContainsFunc(named[parts[0]], func(p *types.Package) bool { return declares(p, parts[1:]) }) {
				t.Errorf("%s names `%s`, which no package declares", page, name)
			}
		}
	}
}

// declares reports whether a package declares a name, or a type with a field or method.
func declares(p *types.Package, name []string) bool {
	o := p.Scope().Lookup(name[0])
	if o == nil || len(name) == 1 {
		return o != nil
	}
	member, _, _ := types.LookupFieldOrMethod(o.Type(), true, p, name[1])
	return member != nil
}
