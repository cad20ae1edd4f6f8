package pattern

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// sources are the parsed files of one package of LifeHub, with the values of its
// string constants.
type sources struct {
	files []*ast.File
	names map[string]ast.Expr
}

// text evaluates an expression of literals, names and +.
func (s *sources) text(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.ParenExpr:
		return s.text(e.X)
	case *ast.BinaryExpr:
		left, ok := s.text(e.X)
		right, fine := s.text(e.Y)
		return left + right, ok && fine && e.Op == token.ADD
	case *ast.Ident:
		if value := s.names[e.Name]; value != nil {
			return s.text(value)
		}
	}
	return "", false
}

func packages(t *testing.T, set *token.FileSet) map[string]*sources {
	all := map[string]*sources{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		dir := filepath.Dir(path)
		if all[dir] == nil {
			all[dir] = &sources{names: map[string]ast.Expr{}}
		}
		all[dir].files = append(all[dir].files, file)
		ast.Inspect(file, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && len(v.Names) == len(v.Values) {
				for i, name := range v.Names {
					all[dir].names[name.Name] = v.Values[i]
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func makesPatterns(fun ast.Expr, dir string) bool {
	switch fun := fun.(type) {
	case *ast.SelectorExpr:
		return fun.Sel.Name == "Lazy"
	case *ast.Ident:
		return fun.Name == "compile" && dir == filepath.Join("../..", "llm")
	}
	return false
}

// Patterns are compiled on first use, so an invalid one would only be found by a
// user.
func TestEveryPatternCompiles(t *testing.T) {
	seen, set := 0, token.NewFileSet()
	for dir, s := range packages(t, set) {
		for _, file := range s.files {
			ast.Inspect(file, func(n ast.Node) bool {
				if f, ok := n.(*ast.FuncDecl); ok && f.Name.Name == "compile" { // llm's compile gets several expressions
					return false
				}
				call, ok := n.(*ast.CallExpr)
				if !ok || !makesPatterns(call.Fun, dir) {
					return true
				}
				for _, arg := range call.Args {
					seen++
					text, ok := s.text(arg)
					if !ok {
						t.Errorf("%s: a pattern is not made of literals and names", set.Position(arg.Pos()))
					} else if _, err := regexp.Compile(text); err != nil {
						t.Errorf("%s: %v", set.Position(arg.Pos()), err)
					}
				}
				return true
			})
		}
	}
	if seen < 100 {
		t.Errorf("only %d patterns were found", seen)
	}
}
