package notes

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	orgTaskLine  = regexp.MustCompile(`^#{1,6} (\S+)[ \t]+(?:\[#(\w+)\][ \t]+)?(\S.*)$`)
	orgPlanned   = regexp.MustCompile(`(DEADLINE|SCHEDULED|CLOSED):[ \t]*(\d{4}-\d\d-\d\d)([^A-Z\n]*(?:[A-Z][a-z][^A-Z\n]*)?)`)
	orgRepeats   = regexp.MustCompile(`[.+]?\+\d+[hdwmy]`)
	orgStateLine = regexp.MustCompile(`^(?:todo|seq_todo|typ_todo)::[ \t]+(.*)$`)
)

// orgStates are the states of headings in an Org file.
type orgStates struct{ open, done []string }

// statesOf returns the states that the #+TODO lines of a converted Org file define, or the common
// ones.
func statesOf(lines lineIndex) orgStates {
	var own orgStates
	for line := lines.first; line <= lines.last(); line++ {
		m := orgStateLine.FindStringSubmatch(lines.text(line))
		if m == nil {
			continue
		}
		words := strings.Fields(m[1])
		for i, word := range words {
			words[i], _, _ = strings.Cut(word, "(") // the key that selects it
		}
		at := slices.Index(words, "|")
		if at < 0 && len(words) > 0 { // the last one is the end
			at = len(words) - 1
			words = slices.Insert(words, at, "|")
		}
		if at >= 0 {
			own.open, own.done = append(own.open, words[:at]...), append(own.done, words[at+1:]...)
		}
	}
	if len(own.open)+len(own.done) > 0 {
		return own
	}
	return orgStates{[]string{"TODO", "NEXT", "DOING", "STARTED", "WAITING", "HOLD"}, []string{"DONE", "CANCELED", "CANCELLED"}}
}

// readOrgTasks collects the headings with a state of a converted Org file, with the dates of the line
// below them.
func (n *Note) readOrgTasks(lines lineIndex, code map[int]bool) {
	states := statesOf(lines)
	for line := lines.first; line <= lines.last(); line++ {
		raw := lines.text(line)
		m := orgTaskLine.FindStringSubmatch(raw)
		if m == nil || code[line] || len(raw) > maxTask {
			continue
		}
		done := slices.Contains(states.done, m[1])
		if !done && !slices.Contains(states.open, m[1]) {
			continue
		}
		cancelled := done && strings.HasPrefix(m[1], "CANCEL")
		task := Task{Line: line, Raw: raw, Text: strings.TrimSpace(m[3]), Priority: m[2], Done: done && !cancelled, Cancelled: cancelled}
		if line < lines.last() {
			task.plan(lines.text(line + 1))
		}
		n.Tasks = append(n.Tasks, task)
	}
	slices.SortFunc(n.Tasks, func(a, b Task) int { return a.Line - b.Line })
}

// plan reads the line of dates below a heading.
func (t *Task) plan(below string) {
	for _, m := range orgPlanned.FindAllStringSubmatch(below, -1) {
		day, err := time.ParseInLocation(time.DateOnly, m[2], time.Local)
		if err != nil {
			continue
		}
		switch m[1] {
		case "DEADLINE":
			t.Due = day
		case "SCHEDULED":
			t.Scheduled = day
		case "CLOSED":
			t.DoneOn = day
		}
		if repeats := orgRepeats.FindString(m[3]); repeats != "" {
			t.Recurs = "every " + strings.TrimLeft(repeats, ".+")
		}
	}
}
