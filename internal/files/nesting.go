package files

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Limits of parser input. Time and memory of the parsers grow with the square of
// the depth and, for YAML, also with the square of the number of values.
const (
	maxDepth  = 100    // nesting levels
	maxMarks  = 10_000 // lines and indicators of YAML
	maxValues = 50_000 // values of JSON
)

// CheckNesting returns an error if the brackets of a text, or its lines by
// indentation, nest deeper than 100 levels. file is its name in the error.
func CheckNesting(file string, text []byte) error {
	line, brackets := 0, 0
	var indents []int // indentations of the lines that enclose the current one
	for row := range bytes.Lines(text) {
		line++
		for _, b := range row {
			switch b {
			case '[', '{':
				brackets++
			case ']', '}':
				brackets = max(0, brackets-1)
			}
			if brackets > maxDepth {
				return tooDeep(file, line)
			}
		}
		content := bytes.TrimLeft(row, " \t")
		if len(bytes.TrimSpace(content)) == 0 {
			continue
		}
		indent := len(row) - len(content)
		for len(indents) > 0 && indents[len(indents)-1] >= indent {
			indents = indents[:len(indents)-1]
		}
		indents = append(indents, indent)
		if len(indents)+signsBefore(content) > maxDepth {
			return tooDeep(file, line)
		}
	}
	return nil
}

// signsBefore counts the indicators on a line that each begin a level of YAML, as
// in "- - ? key".
func signsBefore(line []byte) (n int) {
	for len(line) > 1 && strings.IndexByte("-?:", line[0]) >= 0 && (line[1] == ' ' || line[1] == '\t') {
		line = bytes.TrimLeft(line[1:], " \t")
		n++
	}
	return n
}

func tooDeep(file string, line int) error {
	return fmt.Errorf("%s:%d: it nests too deep, more than %d levels", file, line, maxDepth)
}

// CheckYAML is CheckNesting for YAML, and also limits the number of values to
// what the parser can handle.
func CheckYAML(file string, text []byte) error {
	return cmp.Or(CheckNesting(file, text), checkMarks(file, text, "\n,:[]{}&*!?#%|>-\"'", maxMarks))
}

// CheckJSON is CheckNesting for JSON, and also limits the number of values.
func CheckJSON(file string, text []byte) error {
	return cmp.Or(CheckNesting(file, text), checkMarks(file, text, ",[{", maxValues))
}

// checkMarks returns an error if a text contains more than most of the given
// characters.
func checkMarks(file string, text []byte, signs string, most int) error {
	marks, line := 0, 1
	for _, b := range text {
		if strings.IndexByte(signs, b) >= 0 {
			marks++
		}
		if marks > most {
			return fmt.Errorf("%s:%d: it has more lines and values than LifeHub reads; make it shorter", file, line)
		}
		if b == '\n' {
			line++
		}
	}
	return nil
}

// CheckWritten is CheckYAML for a text whose aliases are expanded when it is
// parsed. Aliases of aliases would grow exponentially.
func CheckWritten(file string, text []byte) error {
	if len(alias.FindAllStringIndex(string(text), maxAliases+1)) > maxAliases {
		return fmt.Errorf("%s:1: it has more than %d aliases (*name)", file, maxAliases)
	}
	return CheckYAML(file, text)
}

const maxAliases = 20

var alias = regexp.MustCompile(`(?:^|[\s\[,])\*\w`)

// CheckTOML is CheckNesting for TOML, in which a dot in a key also begins a
// level.
func CheckTOML(file string, text []byte) error {
	line := 0
	for row := range bytes.Lines(text) {
		line++
		name, _, _ := bytes.Cut(row, []byte("="))
		if dots.MatchString(string(name)) {
			return tooDeep(file, line)
		}
	}
	return CheckNesting(file, text)
}

var dots = regexp.MustCompile(`(?:[^\s.]\s*\.\s*){100}`)

// ParseYAML parses a text that a user edits. Errors contain the line number but
// no text of the file, which may be secret. Scalar returns the values of the
// tree.
func ParseYAML(file string, text []byte) (tree *ast.File, err error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if err := CheckYAML(file, text); err != nil {
		return nil, err
	}
	defer func() {
		if fault := recover(); fault != nil {
			tree, err = nil, fmt.Errorf("%s:1: not valid YAML", file)
		}
	}()
	tree, err = parser.ParseBytes(Escape(text), 0)
	if err != nil {
		line, fault := faultOf(err)
		return nil, fmt.Errorf("%s:%d: %s", file, line, fault)
	}
	return tree, nil
}

// Scalar returns the text of a scalar as written. It reports false for null and
// for other nodes.
func Scalar(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return Unescape(n.Value), true
	case *ast.LiteralNode:
		return Unescape(n.Value.Value), true
	case *ast.NullNode:
		return "", false
	case ast.ScalarNode:
		return Unescape(n.GetToken().Value), true
	}
	return "", false
}

// faultOf returns the line and description of a YAML syntax error.
func faultOf(err error) (line int, fault string) {
	line, fault = 1, err.Error()
	var y yaml.Error
	if errors.As(err, &y) {
		fault = y.GetMessage()
		if token := y.GetToken(); token != nil && token.Position != nil {
			line = token.Position.Line
		}
	}
	fault, _, _ = strings.Cut(fault, "\n")
	if !strings.HasPrefix(fault, "mapping key") { // a duplicate key; other errors quote values
		fault, _, _ = strings.Cut(fault, `: "`)
	}
	return line, fault
}
