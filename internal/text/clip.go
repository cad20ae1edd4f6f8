package text

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clip keeps head and tail of a text that is longer than limit bytes, and
// says between them how much is missing.
func Clip(s string, limit int) string { return ClipNoting(s, limit, "") }

// ClipNoting is Clip with a note next to how much is missing.
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

// Cut keeps the beginning of a text that is longer than limit bytes, and marks
// the end. It cuts between two characters.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}

// Count writes a number with its noun: "1 note", "1,284 notes".
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Thousands(n) + " " + noun
}

// Thousands writes a number with commas.
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

// AsSentence gives an error's text a capital and a full stop.
func AsSentence(s string) string {
	if s == "" {
		return "It went wrong, and nothing says why."
	}
	runes := []rune(s)
	runes[0] = unicode.ToUpper(runes[0])
	if last := runes[len(runes)-1]; last != '.' && last != '!' && last != '?' {
		runes = append(runes, '.')
	}
	return string(runes)
}

func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
