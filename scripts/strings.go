//go:build ignore

// Strings prints every string with words in the Go files below the working directory, except
// tests, as "file:line<tab>quoted string". It is for proofreading everything a user may read, and
// for a test that looks for banned phrases.
package main

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		return printTexts(out, filepath.ToSlash(path))
	})
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "strings:", err)
		os.Exit(1)
	}
}

// printTexts prints the literals of a file and the help texts in field tags.
func printTexts(out *bufio.Writer, path string) error {
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
				fmt.Fprintf(out, "%s:%d\t%q\n", path, files.Position(n.Pos()).Line, text)
			}
		}
		return true
	})
	return nil
}
