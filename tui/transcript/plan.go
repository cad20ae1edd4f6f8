package transcript

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Plan draws the steps of a turn. It is expanded while they run and if something went wrong, and otherwise folds to one
// line when they are done, unless the user expanded or folded it. Details show the input and output of calls below each
// step.
type Plan struct {
	State     *chat.Plan
	Elsewhere bool      // the steps are in the sidebar; only the progress is shown here
	set, open bool      // whether the user chose, and if so whether the steps are shown
	details   bool      // arguments and results are shown
	Now       time.Time // time of the last tick, for the duration of running steps
	Beat      int       // frame of the spinner
}

// step draws a row.
type step chat.Step

// New draws a plan; with details, arguments and results are shown.
func New(state *chat.Plan, details bool) *Plan {
	return &Plan{State: state, Now: state.Began, details: details}
}

// steps are the rows.
func (p *Plan) steps() []*step {
	rows := make([]*step, len(p.State.Steps))
	for i := range p.State.Steps {
		rows[i] = (*step)(&p.State.Steps[i])
	}
	return rows
}

// Open reports whether the steps are shown.
func (p *Plan) Open() bool {
	return !p.Elsewhere && (p.details || p.set && p.open || !p.set &&
		(p.State.Took == 0 || slices.ContainsFunc(p.steps(), wentWrong)))
}

// SetOpen shows the steps or folds them to one line.
func (p *Plan) SetOpen(open bool) {
	p.set, p.open, p.details, p.Elsewhere = true, open, p.details && open, false
}

// Narrow draws the steps for a narrow column. The outcome of a step is on a line below if it does
// not fit behind the input.
func (p *Plan) Narrow(width int, theme *draw.Theme) (lines []string) {
	for _, s := range p.steps() {
		if s.Under != "" && !p.shown(s) {
			continue
		}
		left := strings.Repeat(" ", s.indent()) + mark(s.Status, p.Beat, theme) + " " + s.name()
		if given := s.summary(); given != "" {
			left += " " + theme.Dim.Render(given)
		}
		right := strings.Join(strings.Fields(ansi.Strip(s.outcome(p.Now, 2*width, theme, true))), " ")
		switch {
		case right == "":
			lines = append(lines, draw.Truncate(left, width))
		case draw.Width(left)+2+draw.Width(right) <= width:
			lines = append(lines, draw.Justify(left, theme.Dim.Render(right), width))
		default:
			lines = append(lines, draw.Truncate(left, width), theme.Dim.Render(draw.Truncate("    "+right, width)))
		}
	}
	return lines
}

// wentWrong reports whether the user should notice the outcome of a step. A call that
// they declined themselves is no news.
func wentWrong(s *step) bool {
	return s.Status == agent.StepFailed || s.Status == agent.Denied && !s.Declined || s.partial()
}

// below summarises the hidden rows of a step's worker: their number and what went wrong. It returns
// "" if there are none.
func (p *Plan) below(id string) string {
	calls, denied, failed := 0, 0, 0
	for _, s := range p.steps() {
		if s.Under != id {
			continue
		}
		calls++
		switch s.Status {
		case agent.Denied:
			denied++
		case agent.StepFailed:
			failed++
		}
	}
	if calls == 0 {
		return ""
	}
	text := draw.Count(calls, "call")
	if denied > 0 {
		text += fmt.Sprintf(", %d denied", denied)
	}
	if failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	return text
}

// verdicts returns lines with the evaluator's verdict on each attempt of a step's worker.
func (s *step) verdicts(width int, theme *draw.Theme) (lines []string) {
	for _, e := range s.Judged {
		text := fmt.Sprintf("attempt %d, %s", e.Attempt, verdict(e))
		if e.Feedback != "" {
			text += ": " + e.Feedback
		}
		lines = append(lines, draw.StyleLines(theme.Dim.Render, draw.Hang("     ", safetext.Line(text), width))...)
		if !e.Passed && e.Report != "" { // a report that passed is the result of the step
			lines = append(lines, draw.StyleLines(theme.Dim.Render,
				draw.Hang("     its report: ", safetext.Line(e.Report), width))...)
		}
	}
	return lines
}

// verdict summarises the evaluator's verdict.
func verdict(e agent.Evaluated) string {
	switch {
	case e.Unjudged:
		return "not judged"
	case e.Passed:
		return fmt.Sprintf("score %.2f, accepted", e.Score)
	}
	return fmt.Sprintf("score %.2f, not accepted", e.Score)
}

// partial reports whether the step's worker is done but its last attempt was not accepted.
func (s *step) partial() bool {
	return s.Status == agent.Done && len(s.Judged) > 0 && !s.Judged[len(s.Judged)-1].Passed
}

// worker describes the progress of the step's worker, or returns "" if it has none. If brief is
// set, earlier attempts are omitted.
func (s *step) worker(brief bool) string {
	if s.Attempt == 0 {
		return ""
	}
	best := 0.0
	for _, e := range s.Judged {
		best = max(best, e.Score)
	}
	text := fmt.Sprintf("attempt %d", s.Attempt)
	switch last := len(s.Judged) - 1; {
	case s.partial():
		return fmt.Sprintf("partial: score %.2f at best in %s", best, draw.Count(s.Attempt, "attempt"))
	case last < 0 || brief && s.Judged[last].Attempt < s.Attempt:
		return text
	case s.Judged[last].Attempt < s.Attempt:
		return text + fmt.Sprintf(", %.2f before", s.Judged[last].Score)
	case s.Judged[last].Passed && !s.Judged[last].Unjudged:
		return text + fmt.Sprintf(", score %.2f", s.Judged[last].Score)
	default:
		return text + ", " + verdict(s.Judged[last])
	}
}

// shown reports whether a row is drawn. The rows of a worker are drawn while it works and when
// details are shown.
func (p *Plan) shown(s *step) bool {
	if s.Under == "" || p.details {
		return true
	}
	parent := p.State.Step(s.Under)
	return parent != nil && parent.Status == agent.Running
}

// Folded reports whether the details are hidden.
func (p *Plan) Folded() bool   { return !p.details }
func (p *Plan) Fold(fold bool) { p.details = !fold }

func (p *Plan) Render(width int, theme *draw.Theme) []string {
	lines := []string{p.heading(width, theme)}
	if !p.Open() {
		return lines
	}
	names := 0
	for _, s := range p.steps() {
		if p.shown(s) {
			names = max(names, draw.Width(s.name())+s.indent())
		}
	}
	names = min(names, max(8, width/3))
	for _, s := range p.steps() {
		if !p.shown(s) {
			continue
		}
		lines = append(lines, p.row(s, names, width, theme))
		if p.details {
			for _, c := range s.Calls {
				lines = append(lines, (*call)(c).details(width, theme)...)
			}
			lines = append(lines, s.verdicts(width, theme)...)
		}
	}
	if p.State.Fallback != nil {
		lines = append(lines, theme.Dim.Render(draw.Truncate("  the model made no usable plan: searching the notes",
			width)))
	}
	for _, what := range p.State.Fallback {
		lines = append(lines, draw.StyleLines(theme.Dim.Render,
			draw.Hang("  because: ", safetext.Line(what), width))...)
	}
	for _, what := range p.State.Repairs {
		lines = append(lines, draw.StyleLines(theme.Dim.Render,
			draw.Hang("  repaired: ", safetext.Line(what), width))...)
	}
	return lines
}

// heading returns the line that a plan folds to: its progress while it runs, and then what was
// done, what was found and how long it took.
func (p *Plan) heading(width int, theme *draw.Theme) string {
	status, did, brought, passed := agent.Done, "", "", p.State.Took
	if passed == 0 {
		status, did, passed = agent.Running, p.Progress(), p.Now.Sub(p.State.Began)
	} else {
		status, did, brought = p.summary()
	}
	if brought != "" {
		brought = " · " + brought
	}
	if passed >= time.Millisecond {
		brought += " · " + draw.Duration(passed)
	}
	fold := " ▸"
	if p.Open() {
		fold = " ▾"
	}
	if room := width - 4 - draw.Width(brought); room >= leastBrief {
		did = draw.Truncate(did, room)
	}
	return mark(status, p.Beat, theme) + " " + theme.Dim.Render(draw.Truncate(did+brought, width-4)+fold)
}

// Progress counts the steps that ended, out of all, without those of workers.
func (p *Plan) Progress() string {
	ended, total := 0, 0
	for _, s := range p.steps() {
		if s.Under == "" {
			if total++; (*chat.Step)(s).Over() {
				ended++
			}
		}
	}
	return fmt.Sprintf("%d of %s", ended, draw.Count(total, "step"))
}

// byHarm are the final states of a step, the worst last.
var byHarm = []agent.Status{agent.Done, agent.Skipped, agent.Denied, agent.StepFailed}

// summary describes a finished plan: the worst state, what its steps did without repetitions, and
// what they found.
func (p *Plan) summary() (worst agent.Status, all, brought string) {
	var parts []string
	times, passages, nothing := map[string]int{}, 0, false
	worst = agent.Done
	if p.State.Fallback != nil {
		parts = append(parts, "no usable plan")
	}
	for _, s := range p.steps() {
		for _, c := range s.Calls {
			passages += len(c.Result.Sources)
			nothing = nothing || c.Result.Nothing
		}
		if s.Under != "" {
			continue
		}
		if slices.Index(byHarm, s.Status) > slices.Index(byHarm, worst) {
			worst = s.Status
		}
		for did := range strings.SplitSeq(s.did(), " · ") {
			if times[did]++; times[did] == 1 {
				parts = append(parts, did)
			}
		}
	}
	for i, did := range parts {
		if n := times[did]; n > 1 {
			parts[i] = fmt.Sprintf("%s ×%d", did, n)
		}
	}
	switch {
	case passages > 0:
		brought = draw.Count(passages, "passage")
	case nothing:
		brought = "nothing found"
	}
	return worst, strings.Join(parts, " · "), brought
}

// did describes what a step did: how much its search covered, or its tool and, if it did not
// succeed, its state.
func (s *step) did() string {
	did := strings.ReplaceAll(s.name(), "_", " ")
	if s.Status != agent.Done {
		return did + " " + string(s.Status)
	}
	for _, c := range s.Calls {
		if found := c.Result.Coverage; found != nil {
			return safetext.Line(found.Health())
		}
	}
	return did
}

// row returns one line: state, number, tool, input, outcome, time.
func (p *Plan) row(s *step, names, width int, theme *draw.Theme) string {
	number := safetext.Line(s.Step.ID)
	if s.Under != "" {
		number = "  " + number
	}
	name := draw.Truncate(s.name(), names-s.indent())
	name += strings.Repeat(" ", max(0, names-s.indent()-draw.Width(name)))
	sign := mark(s.Status, p.Beat, theme)
	if s.partial() {
		sign = theme.Warning.Render("≈")
	}
	left := fmt.Sprintf("  %s %s  %s", sign, number, theme.Strong.Render(name))
	folded := ""
	if hidden := p.below(s.Step.ID); hidden != "" && !p.details && s.Status != agent.Running {
		folded = theme.Dim.Render("▸ ")
		if width >= 80 {
			folded += theme.Dim.Render(hidden + "  ")
		}
	}
	right := folded + s.outcome(p.Now, width, theme, false)
	room := func() int { return width - draw.Width(left) - draw.Width(right) - 4 }
	if s.Attempt > 0 && room() < leastBrief {
		right = folded + s.outcome(p.Now, width, theme, true)
	}
	if text, room := s.summary(), room(); text != "" && room >= 6 {
		left += "  " + draw.Truncate(text, room)
	}
	if right != "" {
		left += " " // Justify adds at least one more
	}
	return draw.Justify(left, right, width)
}

// leastBrief is the minimum width of the task in the row of a worker's step, in cells. The outcome
// is shortened to make room.
const leastBrief = 24

// indent returns the indentation of the name of a worker's step.
func (s *step) indent() int {
	if s.Under == "" {
		return 0
	}
	return draw.Width("  ") + draw.Width(s.Step.ID) - draw.Width(s.Under)
}

// mark shows a state by a symbol; the colour only repeats it.
func mark(status agent.Status, beat int, theme *draw.Theme) string {
	switch status {
	case agent.Running:
		return theme.Running.Render(draw.Spinner[beat%len(draw.Spinner)])
	case agent.Done:
		return theme.Success.Render("✓")
	case agent.StepFailed:
		return theme.Danger.Render("✗")
	case agent.Denied:
		return theme.Warning.Render("⊘")
	case agent.Skipped:
		return theme.Dim.Render("−")
	}
	return theme.Dim.Render("○")
}

func (s *step) name() string {
	if s.Step.Tool == agent.DelegateTool {
		var task struct {
			Worker string `json:"worker_type"`
		}
		if json.Unmarshal(s.Step.Input, &task) == nil && task.Worker != "" {
			return safetext.Line(task.Worker) + " worker"
		}
	}
	return safetext.Line(s.Step.Tool)
}

// summary returns the input of a step in short form.
func (s *step) summary() string {
	if s.Step.Tool == agent.DelegateTool {
		var task struct {
			Task string `json:"task_description"`
		}
		if json.Unmarshal(s.Step.Input, &task) == nil {
			return safetext.Line(task.Task)
		}
	}
	if text := chat.BriefArguments(s.Step.Input); text != "" {
		return text
	}
	return safetext.Line(s.Step.Description)
}

// outcome returns the right part of a row: the result of the step and how long it took. If brief is
// set, a worker's findings and earlier attempts are omitted.
func (s *step) outcome(now time.Time, width int, theme *draw.Theme, brief bool) string {
	switch s.Status {
	case agent.Pending:
		if len(s.Step.After) > 0 {
			return theme.Dim.Render("after " + safetext.Line(strings.Join(s.Step.After, ", ")))
		}
		return ""
	case agent.Running:
		far := s.worker(brief)
		if len(s.Calls) > 0 {
			far = strings.TrimSpace(far + " " + draw.Truncate((*call)(s.Calls[len(s.Calls)-1]).far(), 30))
		}
		if now.Sub(s.Began) >= 3*time.Second {
			far = strings.TrimSpace(far + "  " + draw.Duration(now.Sub(s.Began)))
		}
		if far == "" {
			return ""
		}
		return theme.Dim.Render(far)
	case agent.Done:
		text := ""
		if len(s.Calls) > 0 && !brief {
			text = (*call)(s.Calls[len(s.Calls)-1]).found()
		}
		if text == "" {
			text = s.Allowed
		}
		if worker := s.worker(brief); worker != "" {
			text = strings.TrimPrefix(text+" · "+worker, " · ")
		}
		took := ""
		if s.Took > 0 {
			took = fmt.Sprintf("  %7s", draw.Duration(s.Took))
		}
		return theme.Dim.Render(text + took)
	}
	word, reason, room := string(s.Status), safetext.Line(s.Reason), max(30, width/2)
	for draw.Width(word+": "+reason) > room { // the cause of an error comes last
		_, cause, found := strings.Cut(reason, ": ")
		if !found {
			break
		}
		reason = cause
	}
	if reason != "" {
		word += ": " + reason
	}
	return theme.Dim.Render(draw.Truncate(word, room))
}

func (p *Plan) Copied() string {
	var text strings.Builder
	for _, s := range p.steps() {
		fmt.Fprintf(&text, "%s %s %s %s\n", s.Status, s.Step.ID, s.name(), s.summary())
	}
	return text.String()
}
