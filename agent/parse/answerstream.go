package parse

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// AnswerStream reads a plan's JSON while it arrives and passes on the text of
// its top-level "answer", unless the plan has steps or tasks. It is a reader of one
// field, not a check of the JSON.
type AnswerStream struct {
	Say  func(text string)
	Kind string // the top-level "kind", as soon as it has arrived

	depth    int
	inString bool
	escaped  bool            // the next byte belongs to an escape
	isKey    bool            // the string at hand is a key of the top object
	expects  bool            // a key of the top object comes next
	key      string          // the key whose value is being read
	raw      strings.Builder // the inside of the string at hand, as far as it was not said
	steps    bool            // that list holds something
	began    bool            // something was said
	space    string          // white space not said yet: it may be the answer's end
}

func (a *AnswerStream) Add(piece string) {
	for i := 0; i < len(piece); i++ {
		a.byte(piece[i])
	}
	a.pass(false)
}

func (a *AnswerStream) byte(c byte) {
	if a.inString {
		a.inText(c)
		return
	}
	if a.depth == 0 && c != '{' {
		return // prose or a fence before the object
	}
	switch c {
	case '"':
		a.inString, a.isKey = true, a.depth == 1 && a.expects
		a.raw.Reset()
		if a.depth > 1 && a.listsWork() {
			a.steps = true
		}
	case '{', '[':
		if a.listsWork() && a.depth >= 2 {
			a.steps = true
		}
		a.depth++
		if a.depth == 1 {
			a.expects = c == '{'
		}
	case '}', ']':
		a.depth--
		if a.depth == 0 {
			a.key = ""
		}
	case ',':
		if a.depth == 1 {
			a.expects, a.key = true, ""
		}
	}
}

// listsWork reports whether what is read is the list of what is to be done.
func (a *AnswerStream) listsWork() bool {
	return a.key == "steps" || a.key == "tasks" || a.key == "plan"
}

// inText takes the next byte of a string.
func (a *AnswerStream) inText(c byte) {
	switch {
	case a.escaped:
		a.escaped = false
	case c == '\\':
		a.escaped = true
	case c == '"':
		a.inString = false
		if a.isKey {
			a.key, a.expects, a.isKey = unquoted(a.raw.String()), false, false
			a.raw.Reset()
		} else {
			if a.key == "kind" && a.depth == 1 {
				a.Kind = unquoted(a.raw.String())
			}
			a.pass(true)
		}
		return
	}
	a.raw.WriteByte(c)
}

// pass says what is complete of the answer: all of it at its end.
func (a *AnswerStream) pass(end bool) {
	if a.key != "answer" || a.isKey || a.depth != 1 || a.steps {
		return
	}
	raw := a.raw.String()
	size := len(raw)
	if !end {
		size = complete(raw)
	}
	a.raw.Reset()
	a.raw.WriteString(raw[size:])
	text := unquoted(raw[:size])
	if !a.began {
		text = strings.TrimLeft(text, " \t\r\n")
	}
	text = a.space + text
	trimmed := strings.TrimRight(text, " \t\r\n")
	a.space = text[len(trimmed):]
	if trimmed != "" {
		a.began = true
		a.Say(trimmed)
	}
}

// complete is how much of the inside of a JSON string can be read: at its end
// an escape, the first of two that make one character, or a rune may be cut.
func complete(raw string) int {
	for i := 0; i < len(raw); {
		rest, size := raw[i:], 1
		switch {
		case strings.HasPrefix(rest, `\u`):
			if size = 6; len(rest) < 12 && len(rest) >= 4 && strings.ContainsRune("dD", rune(rest[2])) && strings.ContainsRune("89abAB", rune(rest[3])) {
				return i
			}
		case rest[0] == '\\':
			size = 2
		case !utf8.FullRuneInString(rest):
			return i
		}
		if size > len(rest) {
			return i
		}
		i += size
	}
	return len(raw)
}

// unquoted is the text that the inside of a JSON string stands for; one with
// escapes that JSON does not know stands for itself.
func unquoted(raw string) (text string) {
	var b strings.Builder
	repairString(&b, `"`+raw+`"`)
	if json.Unmarshal([]byte(b.String()), &text) != nil {
		return raw
	}
	return text
}
