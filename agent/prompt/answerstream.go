package prompt

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// AnswerStream reads the JSON of a plan as it is streamed and passes the text of
// its top-level "answer" to Say, unless the plan has steps. It reads that one
// field and does not validate the JSON.
type AnswerStream struct {
	Say  func(text string)
	Kind string // the top-level "kind", as soon as it has arrived

	depth    int
	inString bool
	escaped  bool            // the next byte is part of an escape
	isKey    bool            // the current string is a key of the top-level object
	expects  bool            // the next string is a key of the top-level object
	key      string          // the top-level key whose value is being read
	raw      strings.Builder // the current string, without what was passed on already
	steps    bool            // the list of steps is not empty
	began    bool            // some text was passed on
	space    string          // trailing white space, dropped if the answer ends here
}

// Add reads the next piece of the stream.
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

// listsWork reports whether the value being read is the list of steps, by any of
// its names.
func (a *AnswerStream) listsWork() bool {
	return a.key == "steps" || a.key == "tasks" || a.key == "plan"
}

// inText reads the next byte of a string.
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

// pass passes on what is complete of the answer; end means all of it is.
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

// complete returns the length of the prefix of raw, the inside of a JSON
// string, that can be decoded. An escape, a surrogate pair or a rune may be
// incomplete at its end.
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

// unquoted decodes the inside of a JSON string. If it has invalid escapes, it
// is returned unchanged.
func unquoted(raw string) (text string) {
	var b strings.Builder
	repairString(&b, `"`+raw+`"`)
	if json.Unmarshal([]byte(b.String()), &text) != nil {
		return raw
	}
	return text
}
