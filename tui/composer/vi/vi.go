// Package vi is the commands of vi, over a text of runes: what a command means,
// and what becomes of the text and the cursor in it.
package vi

import (
	"slices"
	"strconv"
	"strings"
)

// Redo is Ctrl+R among the letters of a command.
const Redo = "\x12"

// Command is a command of vi.
type Command struct {
	Count    int    // 0: none was typed
	Operator string // d cuts what a move goes over, c writes in its place; "": none
	Name     string // of the move or change
}

// Times is how often it is done.
func (v Command) Times() int { return max(1, v.Count) }

// maxCount bounds how often a command is done.
const maxCount = 9999

// Parse reads a command. whole is false while letters of it are missing.
func Parse(typed string) (v Command, whole bool) {
	v.Count, typed = leadingCount(typed)
	if name, ok := short[typed]; ok {
		typed = name
	}
	if strings.HasPrefix(typed, "d") || strings.HasPrefix(typed, "c") {
		var more int
		v.Operator = typed[:1]
		if more, typed = leadingCount(typed[1:]); more > 0 {
			v.Count = min(v.Times()*more, maxCount)
		}
		if typed == v.Operator {
			typed = "line"
		}
	}
	v.Name = typed
	return v, typed != "" && typed != "g"
}

// leadingCount is the number that a text begins with, and the rest. A zero
// begins none: it is a move.
func leadingCount(text string) (int, string) {
	if strings.HasPrefix(text, "0") {
		return 0, text
	}
	rest := strings.TrimLeft(text, "0123456789")
	n, err := strconv.Atoi(text[:len(text)-len(rest)])
	if err != nil && rest != text {
		n = maxCount
	}
	return min(n, maxCount), rest
}

// short are the commands that are short for an operator and a move.
var short = map[string]string{"x": "dl", "X": "dh", "D": "d$", "s": "cl", "S": "cc", "C": "c$"}

// Run does a command other than those that go through the history: it returns
// the text, where the cursor stands in it, and whether one writes there from now
// on. ok is false for a command that is not known: it does nothing.
func (v Command) Run(text []rune, at int) (after []rune, to int, writes, ok bool) {
	if insert, ok := inserts[v.Name]; ok && v.Operator == "" {
		after, to = insert(text, at)
		return after, to, true, true
	}
	move, ok := moves[v.Name]
	if v.Operator == "c" && v.Name == "w" && !onBlank(text, at) {
		move = moves["e"] // as ever in vi
	}
	if !ok || v.Operator == "" && v.Name == "line" {
		return text, at, false, false
	}
	to = move.to(text, at, v)
	if v.Operator == "" {
		return text, to, false, true
	}
	from, end := min(at, to), max(at, to)
	switch {
	case move.lines:
		from, end = lineStart(text, from), lineEnd(text, end)
		switch {
		case v.Operator == "c":
		case end < len(text):
			end++
		case from > 0:
			from--
		}
	case move.inclusive && end < lineEnd(text, end):
		end++
	}
	text = slices.Delete(text, from, end)
	if v.Operator == "c" {
		return text, from, true, true
	}
	if move.lines {
		from = lineStart(text, from)
	}
	return text, from, false, true
}
