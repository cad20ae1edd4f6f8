package agent

import (
	"encoding/json"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// answerStream reads a plan's JSON while it arrives and passes on the text of
// its top-level "answer", unless the plan has steps. It is a reader of one
// field, not a check of the JSON.
type answerStream struct {
	say    func(text string)
	routed bool // nothing is said before "route" is false

	depth    int
	inString bool
	isKey    bool   // the string at hand is a key of the top object
	expects  bool   // a key of the top object comes next
	key      string // the key whose value is being read
	text     strings.Builder
	escape   string // an escape that is not complete
	steps    bool   // steps holds something
	began    bool   // something was said
	space    string // white space not said yet: it may be the answer's end
	partial  string // bytes of a rune that is not complete
}

func (a *answerStream) add(piece string) {
	for i := 0; i < len(piece); i++ {
		a.byte(piece[i])
	}
	a.pass()
}

func (a *answerStream) byte(c byte) {
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
		a.text.Reset()
		if a.depth > 1 && a.key == "steps" {
			a.steps = true
		}
	case '{', '[':
		if a.key == "steps" && a.depth >= 2 {
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
	case 'f':
		if a.depth == 1 && a.key == "route" { // false: what is said is for the user
			a.routed = false
		}
	case ',':
		if a.depth == 1 {
			a.expects, a.key = true, ""
		}
	}
}

// inText takes the next byte of a string.
func (a *answerStream) inText(c byte) {
	switch {
	case a.escape != "":
		a.escape += string(rune(c))
		a.unescape()
	case c == '\\':
		a.escape = `\`
	case c == '"':
		a.inString = false
		if a.isKey {
			a.key, a.expects, a.isKey = a.text.String(), false, false
			a.text.Reset()
		} else {
			a.pass()
		}
	default:
		a.text.WriteByte(c)
	}
}

// unescape writes the character of an escape once it is complete. Half of a
// surrogate pair waits for the other.
func (a *answerStream) unescape() {
	e := a.escape
	if e[1] != 'u' {
		var s string
		if json.Unmarshal([]byte(`"`+e+`"`), &s) == nil {
			a.text.WriteString(s)
		}
		a.escape = ""
		return
	}
	if len(e) < 6 {
		return
	}
	first := hex4(e[2:6])
	if !utf16.IsSurrogate(first) {
		a.text.WriteRune(first)
		a.escape = ""
		return
	}
	switch {
	case len(e) == 7 && e[6] != '\\', len(e) == 8 && e[7] != 'u': // no second half follows
		a.text.WriteRune(utf8.RuneError)
		a.escape = ""
		for _, c := range []byte(e[6:]) {
			a.inText(c)
		}
	case len(e) == 12:
		a.text.WriteRune(utf16.DecodeRune(first, hex4(e[8:12])))
		a.escape = ""
	}
}

// pass says what is complete of the answer.
func (a *answerStream) pass() {
	if a.key != "answer" || a.isKey || a.depth != 1 || a.steps || a.routed {
		return
	}
	text := a.partial + a.text.String()
	a.text.Reset()
	whole := len(text)
	for back := 1; back <= min(3, whole); back++ { // a rune cut in two waits
		if utf8.RuneStart(text[whole-back]) {
			if !utf8.FullRuneInString(text[whole-back:]) {
				whole -= back
			}
			break
		}
	}
	text, a.partial = text[:whole], text[whole:]
	if !a.began {
		text = strings.TrimLeft(text, " \t\r\n")
	}
	text = a.space + text
	trimmed := strings.TrimRight(text, " \t\r\n")
	a.space = text[len(trimmed):]
	if trimmed != "" {
		a.began = true
		a.say(trimmed)
	}
}

func hex4(s string) (r rune) {
	for _, c := range s {
		r <<= 4
		switch {
		case c >= '0' && c <= '9':
			r |= c - '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r |= c | 0x20 - 'a' + 10
		}
	}
	return r
}
