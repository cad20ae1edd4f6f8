package notes

import (
	"regexp"
	"strings"
	"time"
)

// Task is a "- [ ]" or "- TODO" item, or a heading of an Org file with a state. Dates are local midnights; zero means unset
// or unknown.
type Task struct {
	Line      int
	Text      string // without the checkbox, dates and other fields
	Raw       string // the line as written
	Done      bool
	Cancelled bool // "- [-]": neither done nor open
	Due       time.Time
	Scheduled time.Time
	Start     time.Time
	DoneOn    time.Time
	Recurs    string // such as "every week"; empty: does not recur
	Priority  string // as written; may be empty
}

// Open reports whether the task is neither done nor cancelled.
func (t Task) Open() bool { return !t.Done && !t.Cancelled }

// taskLine matches a list item with a checkbox: the text before the box, the mark
// in it, and the text after it. Tasks may be in quotes.
var taskLine = regexp.MustCompile(`^([\s>]*(?:[-*+]|\d{1,9}[.)])[ \t]+)\[([^\[\]\n])\](?:[ \t]+(.*))?$`)

// wordLine matches a list item of Logseq, whose state is a word.
var wordLine = regexp.MustCompile(`^([\s>]*[-*+][ \t]+)(TODO|DOING|NOW|LATER|WAITING|DONE|CANCELED|CANCELLED)[ \t]+(\S.*)$`)

// The fields of the Obsidian Tasks plugin, in its emoji syntax and in Dataview's,
// which also covers "due: 2026-01-01" without brackets.
var (
	emojiField = regexp.MustCompile(`(📅|📆|🗓|⏳|⌛|🛫|➕|✅|❌)\x{FE0F}?[ \t]*(\d{4}-\d{2}-\d{2})`)
	pairField  = regexp.MustCompile(`[\[(][ \t]*(due|scheduled|start|created|completion|done|cancelled|priority|repeat|recurrence|id|dependsOn|onCompletion)::[ \t]*([^\])]*)[\])]`)
	plainField = regexp.MustCompile(`(?:^|[ \t])(due|scheduled|start|done):[ \t]*(\d{4}-\d{2}-\d{2})\b`)
	planField  = regexp.MustCompile(`(DEADLINE|SCHEDULED):[ \t]*<(\d{4}-\d{2}-\d{2})[^>\n]*>`)
	recurField = regexp.MustCompile(`🔁\x{FE0F}?[ \t]*([A-Za-z0-9, ]+)`)
	levelField = regexp.MustCompile(`(🔺|⏫|🔼|🔽|⏬)\x{FE0F}?`)
	otherField = regexp.MustCompile(`(?:🆔|⛔|🏁)\x{FE0F}?[ \t]*[A-Za-z0-9_,-]*`)
	blockMark  = regexp.MustCompile(`[ \t]\^[A-Za-z0-9-]+$`)
)

// maxTask bounds the length of a task's line in bytes; longer lines are text.
const maxTask = 10_000

// ParseTasks parses a line as a task. It does not set Line.
func ParseTasks(line string) (Task, bool) {
	rest := strings.TrimLeft(line, " \t\r\f>-*+.)0123456789")
	if len(line) > maxTask || rest == "" || rest[0] != '[' && (rest[0] < 'A' || rest[0] > 'Z') {
		return Task{}, false
	}
	m := taskLine.FindStringSubmatch(line)
	if m == nil {
		if m = wordLine.FindStringSubmatch(line); m == nil {
			return Task{}, false
		}
	}
	state := m[2]
	t := Task{Raw: line, Done: state == "x" || state == "X" || state == "DONE", Cancelled: state == "-" || strings.HasPrefix(state, "CANCEL")}
	t.Text = t.takeFields(m[3])
	return t, true
}

// takeFields moves the fields in a task's text into t and returns the remaining
// text.
func (t *Task) takeFields(text string) string {
	text = blockMark.ReplaceAllString(strings.TrimRight(text, " \t\r"), "")
	text = take(text, emojiField, func(m []string) bool { return t.setDate(m[1], m[2]) })
	text = take(text, planField, func(m []string) bool { return t.setDate(m[1], m[2]) })
	text = take(text, pairField, func(m []string) bool { return t.setField(m[1], strings.TrimSpace(m[2])) })
	text = take(text, plainField, func(m []string) bool { return t.setDate(m[1], m[2]) })
	text = take(text, recurField, func(m []string) bool { return t.setField("repeat", strings.TrimSpace(m[1])) })
	text = take(text, levelField, func(m []string) bool { return t.setField("priority", m[1]) })
	text = take(text, otherField, func([]string) bool { return true })
	return strings.Join(strings.Fields(text), " ")
}

// take removes each match that use accepts.
func take(text string, field *regexp.Regexp, use func(match []string) bool) string {
	return field.ReplaceAllStringFunc(text, func(found string) string {
		if use(field.FindStringSubmatch(found)) {
			return " "
		}
		return found
	})
}

// setDate rejects days that do not exist, such as 2026-02-31, which then stay in
// the text.
func (t *Task) setDate(mark, value string) bool {
	day, err := time.ParseInLocation("2006-01-02", value, time.Local)
	if err != nil {
		return false
	}
	switch mark {
	case "📅", "📆", "🗓", "due", "DEADLINE":
		t.Due = day
	case "⏳", "⌛", "scheduled", "SCHEDULED":
		t.Scheduled = day
	case "🛫", "start":
		t.Start = day
	case "✅", "completion", "done":
		t.DoneOn = day
	}
	return true
}

func (t *Task) setField(name, value string) bool {
	switch name {
	case "repeat", "recurrence":
		t.Recurs = value
	case "priority":
		t.Priority = value
	case "id", "dependsOn", "onCompletion":
	default:
		return t.setDate(name, value)
	}
	return true
}

// sign matches a possible checkbox, in any encoding, or a state word; of a converted Org file, a
// heading with a state or the line that defines the states.
var sign = regexp.MustCompile(`\[[^\[\]]{1,4}\]|[-*+][ \t]+(?:TODO|DOING|NOW|LATER|WAITING|DONE|CANCEL)|# (?:TODO|NEXT|DOING|STARTED|WAITING|HOLD|DONE|CANCEL)|todo::`)

// MayHoldAny is a fast check whether a note's bytes may contain tasks.
func MayHoldAny(raw []byte) bool { return sign.Match(raw) }
