package llm

import (
	"strings"

	"lifehub/pattern"
)

// rule reads a request for one tool. read returns nil when the words ask for
// something else.
type rule struct {
	tool string
	read func(said string, task *Task) map[string]any
}

// rules in the order in which they are tried. What none knows is searched for.
var rules = []rule{
	{"complete_task", completeTask},
	{"append_note", appendNote},
	{"add_task", addTask},
	{"create_note", createNote},
	{"list_tasks", listTasks},
	{"read_note", readNote},
	{"note_links", noteLinks},
	{"list_notes", listNotes},
	{"remember", remember},
	{"forget", forget},
	{"recall", recall},
	{"get_weather", weather},
	{"crawl", crawl},
	{"web_fetch", webFetch},
	{"web_search", webSearch},
	{"today", today},
	{"calculate", calculate},
}

// compile makes patterns that ignore case and let a dot match line ends.
func compile(patterns ...string) []pattern.Pattern {
	out := make([]pattern.Pattern, len(patterns))
	for i, p := range patterns {
		out[i] = pattern.Lazy(`(?is)` + p)
	}
	return out
}

// match returns the groups of the first pattern that matches.
func match(patterns []pattern.Pattern, s string) []string {
	for _, p := range patterns {
		if m := p.FindStringSubmatch(s); m != nil {
			return m
		}
	}
	return nil
}

var (
	keyValue  = pattern.Lazy(`([\pL_][\pL\pN_]*)=("(?:[^"\\]|\\.)*"|'[^']*'|\S+)`)
	noteFile  = `[^\s"“”:]+\.(?:md|markdown)`
	aboutMine = pattern.Lazy(`(?i)\bmy notes?\b|\bnotes? (?:say|says|about|on|mention)|\b(?:did|have|had) i\b|\bi (?:wrote|noted|said|write)\b|notizen|(?:habe|hatte) ich\b`)
)

// unquote takes one pair of quotation marks off.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	for _, pair := range []string{`""`, `''`, "“”", "„“", "‘’", "«»"} {
		marks := []rune(pair)
		opening, closing := string(marks[0]), string(marks[1])
		if len(s) > len(opening)+len(closing)-1 && strings.HasPrefix(s, opening) && strings.HasSuffix(s, closing) {
			return strings.TrimSpace(s[len(opening) : len(s)-len(closing)])
		}
	}
	return s
}

func trimSuffixFold(s string, endings ...string) string {
	for _, ending := range endings {
		if len(s) >= len(ending) && strings.EqualFold(s[len(s)-len(ending):], ending) {
			return s[:len(s)-len(ending)]
		}
	}
	return s
}

// What the rules above look for inside a message.
var (
	sayOfNotes      = pattern.Lazy(`(?i)\bnotes? (?:say|says|about|on|mention)`)
	startsAbout     = pattern.Lazy(`(?i)^(?:about|on|regarding|for|with|from)\b`)
	aCount          = pattern.Lazy(`\b\d{1,3}\b`)
	timeBeforePlace = pattern.Lazy(`(?i)^(?:today|tomorrow|now|heute|morgen|the|like)\b\s*(?:in\s+)?`)
	nextDays        = pattern.Lazy(`next (\d+) days|nächsten (\d+) tage`)
	onADay          = pattern.Lazy(`on \w+day|am \w+tag`)
	operator        = pattern.Lazy(`[+*/^(]|\s-\s`)
)
