package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// texts calls do for each string of a Go file that has words in it: literals,
// and the help in a field's tag.
func texts(path string, do func(at token.Position, text string)) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && (f.Sel.Name == "Lazy" || f.Sel.Name == "MustCompile") {
				return false // a pattern
			}
		case *ast.BasicLit:
			text, err := strconv.Unquote(n.Value)
			if n.Kind == token.STRING && err == nil && strings.Contains(strings.TrimSpace(text), " ") {
				do(files.Position(n.Pos()), text)
			}
		}
		return true
	})
	return nil
}

// TestStrings prints every string of the program that a user may read, for
// somebody who reads them all; `make strings` runs it.
func TestStrings(t *testing.T) {
	if os.Getenv("LIFEHUB_STRINGS") == "" {
		t.Skip("prints every string; make strings runs it")
	}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || isOnlyForTests("lifehub/"+filepath.ToSlash(filepath.Dir(path))) {
			return err
		}
		return texts(path, func(at token.Position, text string) { fmt.Printf("%s:%d\t%q\n", at.Filename, at.Line, text) })
	})
	if err != nil {
		t.Error(err)
	}
}
