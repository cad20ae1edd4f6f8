package notes

import (
	"regexp"
	"slices"
	"strings"

	"lifehub/internal/when"
)

var (
	orgTaskLine = regexp.MustCompile(`^#{1,6} (\S+)[ \t]+(?:\[#(\w+)\][ \t]+)?(\S.*)$`)
	orgPlan     = regexp.MustCompile(`^[ \t]*(?:DEADLINE|SCHEDULED|CLOSED):`)
	orgPlanned  = blanked(`(DEADLINE|SCHEDULED|CLOSED):_DAY([^A-Z\n]*(?:[A-Z][a-z][^A-Z\n]*)?)`)
	orgDrawer   = regexp.MustCompile(`^[ \t]*(?::[A-Za-z_]+:[ \t]*$|CLOCK:|[\pL_][\pL\pN_-]*::[ \t]|- (?:State|Note|` +
		`Rescheduled)\b)`)
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
	return orgStates{
		[]string{"TODO", "NEXT", "DOING", "STARTED", "WAITING", "HOLD"},
		[]string{"DONE", "CANCELED", "CANCELLED"},
	}
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
		task := Task{Line: line, Raw: raw, Text: strings.TrimSpace(m[3]), Priority: m[2], Done: done &&
			!cancelled, Cancelled: cancelled}
		for below := line + 1; below <= lines.last() && task.plan(lines.text(below)); below++ {
		}
		n.Tasks = append(n.Tasks, task)
	}
	slices.SortFunc(n.Tasks, func(a, b Task) int { return a.Line - b.Line })
}

// plan reads a line below a heading, and reports whether it is about the heading: dates, properties, a drawer.
func (t *Task) plan(below string) bool {
	var dates [][]string
	if orgPlan.MatchString(below) { // no heading, and no text that names one
		dates = orgPlanned.FindAllStringSubmatch(below, -1)
	}
	for _, m := range dates {
		day, err := when.ParseDay(m[2])
		if err != nil {
			continue
		}
		f := field{style: planned, value: m[3]}
		switch m[1] {
		case "DEADLINE":
			f.name, f.day = "due", day
		case "SCHEDULED":
			f.name, f.day = "scheduled", day
		case "CLOSED":
			f.name, f.day = "done", day
		}
		t.take([]field{f})
	}
	return len(dates) > 0 || strings.TrimSpace(below) == "" || orgDrawer.MatchString(below)
}
