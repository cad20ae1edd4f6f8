// Package shape measures how the code is laid out: how large a package is,
// how many of its files depend on each other in a circle, how wide its
// structs are and over how many files the methods of a type are spread.
package shape

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Package is a package as it is laid out, without its tests.
type Package struct {
	Path   string
	Lines  int            // of all its files, comments and blank lines with them
	Files  int            // that are built on this system
	Circle []string       // the largest set of files of which each needs each other, sorted
	Fields map[string]int // of a struct type
	Spread map[string]int // the number of files that hold methods of a type
}

// Measure measures the packages that the patterns name, in the module of dir.
// It needs the go command.
func Measure(dir string, patterns ...string) ([]Package, error) {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports,
		Dir:  dir,
	}, patterns...)
	if err != nil {
		return nil, fmt.Errorf("load packages: %w", err)
	}
	var all []Package
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("load %s: %w", p.PkgPath, p.Errors[0])
		}
		one, err := measure(p)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

func measure(p *packages.Package) (Package, error) {
	m := Package{Path: p.PkgPath, Files: len(p.GoFiles), Fields: map[string]int{}, Spread: map[string]int{}}
	for _, file := range slices.Concat(p.GoFiles, p.IgnoredFiles) {
		if filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return Package{}, err
		}
		m.Lines += bytes.Count(text, []byte("\n"))
	}
	at := func(o types.Object) string { return filepath.Base(p.Fset.Position(o.Pos()).Filename) }
	for _, name := range p.Types.Scope().Names() {
		o, ok := p.Types.Scope().Lookup(name).(*types.TypeName)
		if !ok || o.IsAlias() {
			continue
		}
		named, ok := o.Type().(*types.Named)
		if !ok {
			continue
		}
		if s, ok := named.Underlying().(*types.Struct); ok {
			m.Fields[name] = s.NumFields()
		}
		files := map[string]bool{}
		for method := range named.Methods() {
			files[at(method)] = true
		}
		m.Spread[name] = len(files)
	}
	m.Circle = largestCircle(dependencies(p, at))
	return m, nil
}

// dependencies maps each file to the files of its package that it needs: for
// a declaration, a field or a method that it names.
func dependencies(p *packages.Package, at func(types.Object) string) map[string]map[string]bool {
	needs := map[string]map[string]bool{}
	for _, f := range p.Syntax {
		name := filepath.Base(p.Fset.Position(f.Pos()).Filename)
		needs[name] = map[string]bool{}
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			if o := p.TypesInfo.Uses[id]; o != nil && o.Pkg() == p.Types && isShared(o) && at(o) != name {
				needs[name][at(o)] = true
			}
			return true
		})
	}
	return needs
}

// isShared reports whether files can name an object of another file.
func isShared(o types.Object) bool {
	switch o := o.(type) {
	case *types.Var:
		return o.IsField() || o.Parent() == o.Pkg().Scope()
	case *types.Func:
		return o.Signature().Recv() != nil || o.Parent() == o.Pkg().Scope()
	}
	return o.Parent() == o.Pkg().Scope()
}

// largestCircle returns the largest strongly connected set of nodes, by
// Tarjan's algorithm (1972).
func largestCircle(needs map[string]map[string]bool) []string {
	index, low := map[string]int{}, map[string]int{}
	var stack, largest []string
	var visit func(string)
	visit = func(v string) {
		index[v] = len(index) + 1
		low[v] = index[v]
		stack = append(stack, v)
		for w := range needs[v] {
			if index[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if slices.Contains(stack, w) {
				low[v] = min(low[v], index[w])
			}
		}
		if low[v] != index[v] {
			return
		}
		first := slices.Index(stack, v)
		if circle := stack[first:]; len(circle) > len(largest) {
			largest = slices.Sorted(slices.Values(circle))
		}
		stack = stack[:first]
	}
	for v := range needs {
		if index[v] == 0 {
			visit(v)
		}
	}
	return largest
}
