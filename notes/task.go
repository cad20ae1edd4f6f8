package notes

import (
	"cmp"
	"regexp"
	"strings"

	"lifehub/internal/text"
	"lifehub/internal/when"
)

// Task is a "- [ ]" or "- TODO" item with the lines below that belong to it, or a heading of an Org file with a state.
type Task struct {
	Line int
	Text string // without the checkbox, dates and other fields
	Raw  string // the line as written
	// the lines of its item below, as written, if they hold its dates, as in Logseq; each begins with a line feed
	Below     string
	Done      bool
	Cancelled bool // "- [-]": neither done nor open
	Due       when.Day
	Scheduled when.Day
	Start     when.Day
	DoneOn    when.Day
	Recurs    string // such as "every week"; empty: does not recur
	Priority  string // as written; may be empty
}

// Open reports whether the task is neither done nor cancelled.
func (t Task) Open() bool { return !t.Done && !t.Cancelled }

// Day returns the day by which the task is due, or else that for which it is scheduled.
func (t Task) Day() when.Day { return cmp.Or(t.Due, t.Scheduled) }

// taskLine matches a list item with a checkbox: the text before the box, the mark
// in it, and the text after it. Tasks may be in quotes.
var taskLine = regexp.MustCompile(`^([\s>]*(?:[-*+]|\d{1,9}[.)])[ \t]+)\[([^\[\]\n])\](?:` + blank + `+(.*))?$`)

// wordLine matches a list item of Logseq, whose state is a word.
var wordLine = regexp.MustCompile(`^([\s>]*[-*+][ \t]+)(` + text.LogseqStates + `)` + blank + `+(\S.*)$`)

// maxTask bounds the length of a task's lines in bytes; longer ones are text.
const maxTask = 10_000

// ParseTasks parses a line, with lines below that belong to it, as a task. It does not set Line.
func ParseTasks(text string) (Task, bool) {
	line, below, more := strings.Cut(text, "\n")
	rest := strings.TrimLeft(line, " \t\r\f>-*+.)0123456789")
	if len(text) > maxTask || rest == "" || rest[0] != '[' && (rest[0] < 'A' || rest[0] > 'Z') {
		return Task{}, false
	}
	m := stateOf(line)
	if m == nil {
		return Task{}, false
	}
	state := line[m[4]:m[5]]
	t := Task{Raw: line, Done: state == "x" || state == "X" || state == "DONE", Cancelled: state == "-" ||
		strings.HasPrefix(state, "CANCEL")}
	if m[6] >= 0 {
		fields, text := fieldsIn(line, m[6])
		t.Text = text
		t.take(fields)
	}
	if more {
		if fields := plannedIn("\n" + below); len(fields) > 0 {
			t.Below = "\n" + below
			t.take(fields)
		}
	}
	return t, true
}

// stateOf returns the groups of a task's line: the text before its state, the state, and the text after it; nil if it
// is no task.
func stateOf(line string) []int {
	if m := taskLine.FindStringSubmatchIndex(line); m != nil {
		return m
	}
	return wordLine.FindStringSubmatchIndex(line)
}

// plannedIn returns the planned dates of lines below a task. What else is there is not the task's.
func plannedIn(below string) (fields []field) {
	if !strings.Contains(below, "DEADLINE") && !strings.Contains(below, "SCHEDULED") {
		return nil
	}
	all, _ := fieldsIn(below, 0)
	for _, f := range all {
		if f.style == planned && f.dayAt > 0 {
			fields = append(fields, f)
		}
	}
	return fields
}

// take sets what fields say.
func (t *Task) take(fields []field) {
	for _, f := range fields {
		switch f.name {
		case "due":
			t.Due = f.day
		case "scheduled":
			t.Scheduled = f.day
		case "start":
			t.Start = f.day
		case "done":
			t.DoneOn = f.day
		case "repeat":
			t.Recurs = f.value
		case "priority":
			t.Priority = f.value
		}
		if r, ok := parseRepeater(f.repeater()); f.repeater() != "" {
			if t.Recurs = f.repeater(); ok {
				t.Recurs = r.words()
			}
		}
	}
}

// sign matches a possible checkbox, in any encoding, or a state word; of a converted Org file, a
// heading with a state or the line that defines the states.
var sign = regexp.MustCompile(`\[[^\[\]]{1,4}\]|(?:[-*+][ \t]+|# )(?:` + text.TaskStates + `)[\s\x{85}\pZ]|todo::`)

// MayHoldAny is a fast check whether a note's bytes may contain tasks.
func MayHoldAny(raw []byte) bool { return sign.Match(raw) }
