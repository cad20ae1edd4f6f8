package text

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clip returns a text of more than limit bytes with its middle replaced by a note
// of how many bytes are missing.
func Clip(s string, limit int) string { return ClipNoting(s, limit, "") }

// ClipNoting is Clip with an addition to that note.
func ClipNoting(s string, limit int, note string) string {
	if len(s) <= limit {
		return s
	}
	head, tail := limit*2/3, len(s)-limit/3
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[… %d bytes left out%s …]\n%s", s[:head], tail-head, note, s[tail:])
}

// Cut truncates a text of more than limit bytes between two characters, and marks
// the truncation.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}

// Fenced returns a text as a Markdown code block, whose fence is longer than any in it.
func Fenced(language, s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.TrimRight(s, "\n") + "\n" + fence
}

// Count formats a number with its noun: "1 note", "1,284 notes".
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Thousands(n) + " " + noun
}

// Thousands formats a number with commas.
func Thousands(n int) string {
	digits, sign := strconv.Itoa(n), ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return sign + digits
}

// AsSentence formats an error's text with a capital and a full stop.
func AsSentence(s string) string {
	if s == "" {
		return "Failed for an unknown reason."
	}
	runes := []rune(s)
	runes[0] = unicode.ToUpper(runes[0])
	if last := runes[len(runes)-1]; last != '.' && last != '!' && last != '?' {
		runes = append(runes, '.')
	}
	return string(runes)
}

func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
