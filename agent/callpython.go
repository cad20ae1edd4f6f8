package agent

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"lifehub/internal/pattern"
)

var pythonCall = pattern.Lazy(`([A-Za-z_][\w.\-]*)\(`)

// readPython reads calls as Python writes them, f(a=1, b=["x"]) or f({"a": 1}),
// of tools that are there. Other positions without a name, and all that is no literal, make none.
func readPython(text string, known func(string) bool) (calls []draftStep) {
	for {
		at := pythonCall.FindStringSubmatchIndex(text)
		if at == nil {
			return calls
		}
		name := toolName(text[at[2]:at[3]], known)
		text = text[at[1]:]
		if !known(name) {
			continue // print( and the like
		}
		p := python{rest: text}
		args, err := p.arguments()
		if err != nil {
			return nil
		}
		input, err := json.Marshal(args)
		if err != nil {
			return nil
		}
		calls = append(calls, draftStep{Tool: name, Input: input})
		text = p.rest
	}
}

// pythonAlone reads a text that is nothing but such calls, one a line.
func pythonAlone(text string, known func(string) bool) (calls []draftStep) {
	for text != "" {
		at := pythonCall.FindStringSubmatchIndex(text)
		if at == nil || at[0] > 0 {
			return nil
		}
		one := readPython(text, known)
		p := python{rest: text[at[1]:]}
		if _, err := p.arguments(); err != nil || len(one) == 0 {
			return nil
		}
		calls = append(calls, one[0])
		text = strings.TrimLeft(p.rest, " \t\r\n;")
	}
	return calls
}

// python reads literals.
type python struct {
	rest  string
	depth int
}

var (
	errPython  = errors.New("it is no literal of Python")
	pythonWord = pattern.Lazy(`^[A-Za-z_]\w*`)
	pythonNum  = pattern.Lazy(`^[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?`)
)

// maxPythonDepth bounds lists within lists.
const maxPythonDepth = 50

func (p *python) skip() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

// take reads a sign, if it comes next.
func (p *python) take(sign string) bool {
	p.skip()
	rest, ok := strings.CutPrefix(p.rest, sign)
	if ok {
		p.rest = rest
	}
	return ok
}

// arguments reads up to the closing parenthesis.
func (p *python) arguments() (map[string]any, error) {
	args := map[string]any{}
	if p.skip(); strings.HasPrefix(p.rest, "{") { // f({"a": 1})
		value, err := p.value()
		if dict, ok := value.(map[string]any); err == nil && ok && p.take(")") {
			return dict, nil
		}
		return nil, errPython
	}
	for !p.take(")") {
		p.skip()
		name := pythonWord.FindString(p.rest)
		p.rest = p.rest[len(name):]
		if name == "" || !p.take("=") {
			return nil, errPython
		}
		value, err := p.value()
		if err != nil {
			return nil, err
		}
		args[name] = value
		if !p.take(",") {
			if p.take(")") {
				return args, nil
			}
			return nil, errPython
		}
	}
	return args, nil
}

func (p *python) value() (any, error) {
	if p.depth++; p.depth > maxPythonDepth {
		return nil, errPython
	}
	defer func() { p.depth-- }()
	p.skip()
	if p.rest == "" {
		return nil, errPython
	}
	switch p.rest[0] {
	case '"', '\'':
		return p.text()
	case '[':
		p.rest = p.rest[1:]
		return p.list("]")
	case '(':
		p.rest = p.rest[1:]
		return p.list(")")
	case '{':
		p.rest = p.rest[1:]
		return p.dict()
	}
	if n := pythonNum.FindString(p.rest); n != "" {
		p.rest = p.rest[len(n):]
		n = strings.TrimPrefix(strings.ReplaceAll(n, "_", ""), "+")
		if json.Valid([]byte(n)) {
			return json.Number(n), nil
		}
		return strconv.ParseFloat(n, 64)
	}
	word := pythonWord.FindString(p.rest)
	p.rest = p.rest[len(word):]
	switch word {
	case "True", "true":
		return true, nil
	case "False", "false":
		return false, nil
	case "None", "null":
		return nil, nil
	}
	return nil, errPython
}

func (p *python) list(end string) (any, error) {
	list := []any{}
	for !p.take(end) {
		value, err := p.value()
		if err != nil {
			return nil, err
		}
		list = append(list, value)
		if !p.take(",") {
			if p.take(end) {
				break
			}
			return nil, errPython
		}
	}
	return list, nil
}

func (p *python) dict() (any, error) {
	dict := map[string]any{}
	for !p.take("}") {
		key, err := p.value()
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if !ok || !p.take(":") {
			return nil, errPython
		}
		if dict[name], err = p.value(); err != nil {
			return nil, err
		}
		if !p.take(",") {
			if p.take("}") {
				break
			}
			return nil, errPython
		}
	}
	return dict, nil
}

// text reads a string in either quotes; the escapes are those of JSON, and \'.
func (p *python) text() (any, error) {
	quote := p.rest[0]
	var b strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == quote:
			p.rest = p.rest[i+1:]
			var s string
			if json.Unmarshal([]byte(`"`+b.String()+`"`), &s) != nil {
				return nil, errPython
			}
			return s, nil
		case c == '\\' && i+1 < len(p.rest):
			i++
			if p.rest[i] == '\'' {
				b.WriteByte('\'')
			} else {
				b.WriteByte('\\')
				b.WriteByte(p.rest[i])
			}
		case c == '"':
			b.WriteString(`\"`)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		default:
			b.WriteByte(c)
		}
	}
	return nil, errPython
}
