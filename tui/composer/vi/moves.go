package vi

import (
	"slices"
	"unicode"
)

// move is where the cursor goes in a text, and what an operator takes of it.
type move struct {
	to        func(text []rune, at int, v Command) int
	inclusive bool // the letter there belongs to it
	lines     bool // whole lines
}

var moves = map[string]move{
	"h": {to: func(text []rune, at int, v Command) int { return max(lineStart(text, at), at-v.Times()) }},
	"l": {to: func(text []rune, at int, v Command) int { return min(lineEnd(text, at), at+v.Times()) }},
	" ": {to: func(text []rune, at int, v Command) int { return min(lineEnd(text, at), at+v.Times()) }},
	"0": {to: func(text []rune, at int, _ Command) int { return lineStart(text, at) }},
	"^": {to: func(text []rune, at int, _ Command) int { return firstLetter(text, at) }},
	"$": {inclusive: true, to: func(text []rune, at int, v Command) int {
		at = linesOn(text, at, v.Times()-1)
		return max(lineStart(text, at), lineEnd(text, at)-1)
	}},
	"w": {to: wordsOn},
	"b": {to: wordsBack},
	"e": {inclusive: true, to: wordEnd},
	"G": {lines: true, to: func(text []rune, at int, v Command) int {
		if v.Count > 0 {
			return firstLetter(text, linesOn(text, 0, v.Count-1))
		}
		return firstLetter(text, len(text))
	}},
	"gg": {lines: true, to: func(text []rune, at int, v Command) int {
		return firstLetter(text, linesOn(text, 0, v.Times()-1))
	}},
	"j":    {lines: true, to: func(text []rune, at int, v Command) int { return linesOn(text, at, v.Times()) }},
	"k":    {lines: true, to: func(text []rune, at int, v Command) int { return linesBack(text, at, v.Times()) }},
	"line": {lines: true, to: func(text []rune, at int, v Command) int { return linesOn(text, at, v.Times()-1) }},
}

// inserts begin to write: what the text is then, and where.
var inserts = map[string]func(text []rune, at int) ([]rune, int){
	"i": func(text []rune, at int) ([]rune, int) { return text, at },
	"a": func(text []rune, at int) ([]rune, int) { return text, min(at+1, lineEnd(text, at)) },
	"I": func(text []rune, at int) ([]rune, int) { return text, firstLetter(text, at) },
	"A": func(text []rune, at int) ([]rune, int) { return text, lineEnd(text, at) },
	"o": func(text []rune, at int) ([]rune, int) {
		end := lineEnd(text, at)
		return slices.Insert(text, end, '\n'), end + 1
	},
	"O": func(text []rune, at int) ([]rune, int) {
		start := lineStart(text, at)
		return slices.Insert(text, start, '\n'), start
	},
}

// lineStart and lineEnd are where the line begins that at is in, and where it
// ends: at its new line or at the end of the text.
func lineStart(text []rune, at int) int {
	for at > 0 && text[at-1] != '\n' {
		at--
	}
	return at
}

func lineEnd(text []rune, at int) int {
	for at < len(text) && text[at] != '\n' {
		at++
	}
	return at
}

// firstLetter is where the first letter of a line stands that is no blank.
func firstLetter(text []rune, at int) int {
	at = lineStart(text, at)
	for at < lineEnd(text, at) && unicode.IsSpace(text[at]) {
		at++
	}
	return at
}

// linesOn and linesBack go n lines, or as many as there are, and keep the column.
func linesOn(text []rune, at, n int) int {
	column := at - lineStart(text, at)
	for ; n > 0 && lineEnd(text, at) < len(text); n-- {
		at = lineEnd(text, at) + 1
	}
	return min(lineStart(text, at)+column, lineEnd(text, at))
}

func linesBack(text []rune, at, n int) int {
	column := at - lineStart(text, at)
	for ; n > 0 && lineStart(text, at) > 0; n-- {
		at = lineStart(text, at) - 1
	}
	return min(lineStart(text, at)+column, lineEnd(text, at))
}

// A word of vi is letters and digits, or other signs, one after the other.
const (
	blankRun = iota
	letterRun
	signRun
)

func runOf(r rune) int {
	switch {
	case unicode.IsSpace(r):
		return blankRun
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		return letterRun
	}
	return signRun
}

func onBlank(text []rune, at int) bool { return at >= len(text) || runOf(text[at]) == blankRun }

// wordsOn is the beginning of the nth word from here. An operator stays in the
// line of the last of them.
func wordsOn(text []rune, at int, v Command) int {
	for n := v.Times(); n > 0 && at < len(text); n-- {
		from := at
		for kind := runOf(text[at]); kind != blankRun && at < len(text) && runOf(text[at]) == kind; {
			at++
		}
		last := at
		for at < len(text) && runOf(text[at]) == blankRun {
			at++
		}
		if end := lineEnd(text, last); n == 1 && v.Operator != "" && end < at && end > from {
			return end
		}
	}
	return at
}

// wordsBack is the beginning of the nth word before here.
func wordsBack(text []rune, at int, v Command) int {
	for n := v.Times(); n > 0; n-- {
		for at > 0 && runOf(text[at-1]) == blankRun {
			at--
		}
		if at == 0 {
			break
		}
		for kind := runOf(text[at-1]); at > 0 && runOf(text[at-1]) == kind; {
			at--
		}
	}
	return at
}

// wordEnd is the last letter of the nth word from here.
func wordEnd(text []rune, at int, v Command) int {
	for n := v.Times(); n > 0; n-- {
		to := at + 1
		if v.Operator == "c" && n == v.Times() && v.Name == "w" {
			to = at // cw changes the word that the cursor is in, were it one letter
		}
		for to < len(text) && runOf(text[to]) == blankRun {
			to++
		}
		if to >= len(text) {
			return max(at, len(text)-1)
		}
		for kind := runOf(text[to]); to+1 < len(text) && runOf(text[to+1]) == kind; {
			to++
		}
		at = to
	}
	return at
}
