package notes

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"lifehub/internal/when"
)

// field is a field of a task, such as a date, a rule or a priority, and where it is in its line.
type field struct {
	span
	// due, scheduled, start, created, done, cancelled, repeat, priority or reference; else it is left alone
	name  string
	value string // as written; of a planned date what follows the day
	style DateStyle
	day   when.Day
	dayAt int // where the day is written, as YYYY-MM-DD; 0: nowhere
}

// blank is a class of all white space of Unicode, and of the characters that are as invisible.
const blank = `[\s\x{85}\pZ\x{200B}\x{2060}\x{FEFF}]`

// blanked compiles a pattern in which _ stands for any white space, and DAY for a day.
func blanked(pattern string) *regexp.Regexp {
	return regexp.MustCompile(strings.NewReplacer("_", blank+"*", "DAY", `(\d{4}-\d{2}-\d{2})`).Replace(pattern))
}

// fieldPatterns match the fields of the Obsidian Tasks plugin, in its emoji syntax and in Dataview's, which also covers
// "due: 2026-01-01" without brackets, of the Kanban and Reminder plugins, and of Org and Logseq. The groups are the
// mark, the day or other value, and the rest. A rule extends to the next field or tag, so it comes last.
var fieldPatterns = []struct {
	style   DateStyle
	pattern *regexp.Regexp
}{
	{Emoji, blanked(`(📅|📆|🗓|⏳|⌛|🛫|➕|✅|❌)\x{FE0F}?_(?:\[\[)?DAY(?:\]\])?`)},
	{planned, blanked(`(DEADLINE|SCHEDULED):_<DAY([^<>\n]*)>`)},
	{Dataview, blanked(`[\[(]_(due|scheduled|start|created|completion|done|cancelled|priority|repeat|recurrence|id|` +
		`dependsOn|onCompletion)::` +
		`_((?:\[\[[^\[\]\n]*\]\]|\[[^\[\]\n]*\]\([^()\n]*\)|[^\[\]()\n])*)[\])]`)},
	{Plain, blanked(`(?:^|` + blank + `)(due|scheduled|start|done):_DAY\b`)},
	{Emoji, blanked(`(?:^|` + blank + `)\(?(@)(?:\{|\[\[)?DAY(?:_\d{1,2}:\d{2})?(?:\}|\]\])?\)?(?:_@@\{[^{}\n]*\})?`)},
	{Emoji, blanked(`(🔺|⏫|🔼|🔽|⏬)\x{FE0F}?`)},
	{planned, regexp.MustCompile(`\[(#)([A-C])\]`)},
	{Emoji, blanked(`(🆔|⛔|🏁)\x{FE0F}?_([\w,-]*)`)},
	{Plain, blanked(`(?:^|` + blank + `)(rec):(\+?\d+[a-z])\b`)}, // of todo.txt, whose due: is one above
	{Emoji, blanked(`(🔁)\x{FE0F}?_([^\n#]*)`)},
}

var (
	// dayValue matches the value of a pair that is a day: alone, with a time, or as a link.
	dayValue = blanked(`^(?:\[\[(?:[^\[\]|]*/)?|\[[^\[\]]*\]\((?:[^()]*/)?|\[)?DAY(?:T?_\d{1,2}:\d{2}[\w:.+-]*)?` +
		`(?:\.md)?(?:\|[^\[\]]*)?(?:\]\]|\]\([^()]*\)|\))?_$`)
	blockMark = regexp.MustCompile(blank + `\^[A-Za-z0-9-]+$`)
)

// fieldNames are the names of fields by their marks, if they differ.
var fieldNames = map[string]string{
	"📅": "due", "📆": "due", "🗓": "due", "@": "due", "DEADLINE": "due", "⏳": "scheduled", "⌛": "scheduled",
	"SCHEDULED": "scheduled",
	"🛫":         "start", "➕": "created", "✅": "done", "completion": "done", "❌": "cancelled",
	"🔁": "repeat", "recurrence": "repeat", "rec": "repeat",
	"🔺": "priority", "⏫": "priority", "🔼": "priority", "🔽": "priority", "⏬": "priority", "#": "priority",
	"🆔": "reference", "⛔": "reference", "id": "reference", "dependsOn": "reference", "🏁": "onCompletion",
}

// fieldsIn returns the fields of a line from an offset on, in order, and the text without them. A date that does not
// exist, such as 2026-02-31, is text.
func fieldsIn(line string, from int) (fields []field, text string) {
	rest := []byte(line[from:]) // line feeds in place of what was read
	if mark := blockMark.FindIndex([]byte(strings.TrimRightFunc(string(rest), isBlank))); mark != nil {
		blankOut(rest[mark[0]:])
	}
	for _, p := range fieldPatterns {
		for _, m := range p.pattern.FindAllSubmatchIndex(rest, -1) {
			group := func(i int) string {
				if 2*i >= len(m) || m[2*i] < 0 {
					return ""
				}
				return string(rest[m[2*i]:m[2*i+1]])
			}
			f := field{
				span: span{from + m[0], from + m[1]}, name: group(1),
				value: strings.TrimFunc(group(2), isBlank), style: p.style,
			}
			if name, ok := fieldNames[f.name]; ok {
				f.name = name
			}
			switch f.name {
			case "repeat", "reference", "onCompletion", "priority":
				if f.value == "" {
					f.value = group(1)
				}
			default:
				if len(m) < 6 {
					continue
				}
				day := []int{m[4], m[5], 0, m[5] - m[4]}
				if p.style == Dataview {
					if day = dayValue.FindStringSubmatchIndex(group(2)); day == nil {
						continue
					}
				}
				var err error
				f.dayAt = from + m[4] + day[2]
				if f.day, err = when.ParseDay(line[f.dayAt : f.dayAt+dayLength]); err != nil {
					continue
				}
				f.value = group(3)
			}
			fields = append(fields, f)
			blankOut(rest[m[0]:m[1]])
		}
	}
	slices.SortFunc(fields, func(a, b field) int { return a.start - b.start })
	return fields, strings.Join(strings.FieldsFunc(string(rest), isBlank), " ")
}

// dayLength is the length of a day in a field.
const dayLength = len("2006-01-02")

// isBlank reports whether a rune is one of the class blank.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || r == '\u200B' || r == '\u2060' || r == '\uFEFF'
}

// blankOut overwrites a part of a line that was read.
func blankOut(part []byte) {
	for i := range part {
		part[i] = '\n'
	}
}
