// Package plan draws the steps and calls of a turn, folded to a line or open.
package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/tui/arguments"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Plan is the steps of a turn with their live states. What the tools were given
// and what they brought unfolds below each step.
type Plan struct {
	Steps           []step
	repairs         []string // what of the model's plan was left out or changed
	fallback        bool     // the model gave no usable plan
	fallbackReasons []string // that is so
	Hidden          bool     // only the heading is shown
	details         bool     // arguments and results are shown
	began           time.Time
	Took            time.Duration // 0: it goes on
	Now             time.Time     // of the last beat, for the time of what runs
	Beat            int           // turns the spinner
}

// step is one row of a plan.
type step struct {
	agent.Step
	Status  agent.Status
	reason  string
	Calls   []Call
	under   string // the step whose worker makes it; "": the turn itself
	attempt int    // of its worker; 0: it has none
	judged  []agent.Evaluated
	answer  bool   // it is the writing of the answer, not a tool
	Allowed string // how the user let it run
	began   time.Time
	Took    time.Duration
}

func NewPlan(made agent.PlanMade, now time.Time, details bool) *Plan {
	p := &Plan{repairs: made.Dropped, fallback: made.Fallback, began: now, Now: now, details: details}
	if p.fallback {
		p.repairs, p.fallbackReasons = nil, made.Dropped
	}
	ids := make([]string, 0, len(made.Steps))
	for _, s := range made.Steps {
		p.Steps = append(p.Steps, step{Step: s, Status: agent.Pending})
		ids = append(ids, s.ID)
	}
	p.Steps = append(p.Steps, step{Step: agent.Step{ID: "answer", After: ids}, Status: agent.Pending, answer: true})
	return p
}

// GoOn adds further steps before the answer. Those before stay as they are.
func (p *Plan) GoOn(made agent.PlanMade) {
	p.repairs = append(p.repairs, made.Dropped...)
	answer := p.Steps[len(p.Steps)-1]
	p.Steps = p.Steps[:len(p.Steps)-1]
	for _, s := range made.Steps {
		p.Steps = append(p.Steps, step{Step: s, Status: agent.Pending})
		answer.After = append(answer.After, s.ID)
	}
	p.Steps = append(p.Steps, answer)
}

// Nest adds the steps of a worker below the step that it works for.
func (p *Plan) Nest(made agent.PlanMade) {
	at := -1
	for i, s := range p.Steps {
		if s.ID == made.Under || s.under == made.Under {
			at = i
		}
	}
	if at < 0 {
		return
	}
	var below []step
	for _, s := range made.Steps {
		below = append(below, step{Step: s, Status: agent.Pending, under: made.Under})
	}
	p.Steps = slices.Insert(p.Steps, at+1, below...)
	p.repairs = append(p.repairs, made.Dropped...)
}

// Tried notes that a worker begins an attempt.
func (p *Plan) Tried(id string, attempt int) {
	if s := p.Step(id); s != nil {
		s.attempt = attempt
	}
}

// Judged notes what the evaluator said of an attempt.
func (p *Plan) Judged(e agent.Evaluated) {
	if s := p.Step(e.Step); s != nil {
		s.judged = append(s.judged, e)
	}
}

// below reports the rows of a step's worker that are folded away: how many,
// and which did not go well; "": there are none.
func (p *Plan) below(id string) string {
	calls, denied, failed := 0, 0, 0
	for _, s := range p.Steps {
		if s.under != id {
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

// verdicts reports what the evaluator said of each attempt of a step's worker.
func (s *step) verdicts(width int, theme *draw.Theme) (lines []string) {
	for _, e := range s.judged {
		text := fmt.Sprintf("attempt %d, %s", e.Attempt, verdict(e))
		if e.Feedback != "" {
			text += ": " + e.Feedback
		}
		lines = append(lines, draw.StyleLines(theme.Dim.Render, draw.Hang("     ", safetext.Line(text), width))...)
		if !e.Passed && e.Report != "" { // the one that passed is the result of the step
			lines = append(lines, draw.StyleLines(theme.Dim.Render, draw.Hang("     its report: ", safetext.Line(e.Report), width))...)
		}
	}
	return lines
}

// verdict is what the evaluator said, in a few words.
func verdict(e agent.Evaluated) string {
	switch {
	case e.Unjudged:
		return "not judged"
	case e.Passed:
		return fmt.Sprintf("score %.2f, accepted", e.Score)
	}
	return fmt.Sprintf("score %.2f, not accepted", e.Score)
}

// partial reports whether the step's worker is done, and nobody was content.
func (s *step) partial() bool {
	return s.Status == agent.Done && len(s.judged) > 0 && !s.judged[len(s.judged)-1].Passed
}

// worker is how far the step's worker is, without what was before where that
// should be brief; "" when it has none.
func (s *step) worker(brief bool) string {
	if s.attempt == 0 {
		return ""
	}
	best := 0.0
	for _, e := range s.judged {
		best = max(best, e.Score)
	}
	text := fmt.Sprintf("attempt %d", s.attempt)
	switch last := len(s.judged) - 1; {
	case s.partial():
		return fmt.Sprintf("partial: score %.2f at best in %s", best, draw.Count(s.attempt, "attempt"))
	case last < 0 || brief && s.judged[last].Attempt < s.attempt:
		return text
	case s.judged[last].Attempt < s.attempt:
		return text + fmt.Sprintf(", %.2f before", s.judged[last].Score)
	case s.judged[last].Passed && !s.judged[last].Unjudged:
		return text + fmt.Sprintf(", score %.2f", s.judged[last].Score)
	default:
		return text + ", " + verdict(s.judged[last])
	}
}

// shown reports whether a row is drawn: those of a worker while it works, and
// when details are shown.
func (p *Plan) shown(s *step) bool {
	if s.under == "" || p.details {
		return true
	}
	parent := p.Step(s.under)
	return parent != nil && parent.Status == agent.Running
}

// Mark notes a step's new state.
func (p *Plan) Mark(id string, status agent.Status, reason string, now time.Time) {
	s := p.Step(id)
	if s == nil {
		return
	}
	switch status {
	case agent.Running:
		s.began = now
	case agent.Done, agent.StepFailed:
		if !s.began.IsZero() && s.Took == 0 {
			s.Took = now.Sub(s.began)
		}
	}
	s.Status, s.reason = status, reason
}

// Step returns the step with an id, nil if the plan has none.
func (p *Plan) Step(id string) *step {
	for i := range p.Steps {
		if p.Steps[i].ID == id {
			return &p.Steps[i]
		}
	}
	return nil
}

// Call returns the call with an id, nil if no step made it.
func (p *Plan) Call(id string) *Call {
	for i := range p.Steps {
		for j := range p.Steps[i].Calls {
			if c := &p.Steps[i].Calls[j]; c.ID == id {
				return c
			}
		}
	}
	return nil
}

// End stops the clock. What still ran has no outcome to show.
func (p *Plan) End(now time.Time) {
	if p.Took > 0 {
		return
	}
	p.Took = max(1, now.Sub(p.began))
	if last := len(p.Steps) - 1; last > 0 && p.Steps[last].Status == agent.Pending && !slices.ContainsFunc(p.Steps[:last], func(s step) bool { return s.Status != agent.Done }) {
		p.Steps = p.Steps[:last] // what was done needed no answer, as with /note
	}
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Status == agent.Running || s.Status == agent.Pending {
			s.Status = agent.Skipped
		}
	}
}

// AnsweredElsewhere takes the row of the answer away: the answer is there, and
// no phase of the plan wrote it, as in the loop.
func (p *Plan) AnsweredElsewhere() {
	if last := len(p.Steps) - 1; last > 0 && p.Steps[last].answer {
		p.Steps = p.Steps[:last]
	}
}

// Progress counts the steps that ended, and all: those that have a number, of
// which the answer's is the last.
func (p *Plan) Progress() (ended, total int) {
	for _, s := range p.Steps {
		if s.under != "" {
			continue
		}
		total++
		if s.Status != agent.Pending && s.Status != agent.Running {
			ended++
		}
	}
	return ended, total
}

// folded reports the details, which Ctrl+O shows and hides; folding the whole
// plan is Ctrl+T.
func (p *Plan) Folded() bool   { return !p.details }
func (p *Plan) Fold(fold bool) { p.details = !fold }

func (p *Plan) Render(width int, theme *draw.Theme) []string {
	ended, total := p.Progress()
	passed := p.Took
	if passed == 0 {
		passed = p.Now.Sub(p.began)
	}
	title := theme.Strong.Render("Plan") + "  " + fmt.Sprintf("%d of %d", ended, total)
	if p.Hidden {
		title += theme.Dim.Render("  folded")
	}
	lines := []string{draw.Justify(title, theme.Dim.Render(draw.Duration(passed)), width)}
	if p.Hidden {
		return lines
	}
	names := 0
	for i := range p.Steps {
		if s := &p.Steps[i]; p.shown(s) {
			names = max(names, draw.Width(s.name())+s.indent())
		}
	}
	names = min(names, max(8, width/3))
	for i := range p.Steps {
		if !p.shown(&p.Steps[i]) {
			continue
		}
		lines = append(lines, p.row(i, names, width, theme))
		if p.details {
			for _, c := range p.Steps[i].Calls {
				lines = append(lines, c.details(width, theme)...)
			}
			lines = append(lines, p.Steps[i].verdicts(width, theme)...)
		}
	}
	if p.fallback {
		lines = append(lines, theme.Dim.Render(draw.Truncate(" the model made no usable plan: searching the notes", width)))
	}
	for _, what := range p.fallbackReasons {
		lines = append(lines, draw.StyleLines(theme.Dim.Render, draw.Hang(" because: ", safetext.Line(what), width))...)
	}
	for _, what := range p.repairs {
		lines = append(lines, draw.StyleLines(theme.Dim.Render, draw.Hang(" repaired: ", safetext.Line(what), width))...)
	}
	return lines
}

// row is one line: mark, number, tool, input, outcome, time.
func (p *Plan) row(i, names, width int, theme *draw.Theme) string {
	s := &p.Steps[i]
	number := safetext.Line(s.ID)
	if s.answer {
		number = fmt.Sprint(p.last())
	}
	if s.under != "" {
		number = "  " + number
	}
	name := draw.Truncate(s.name(), names-s.indent())
	name += strings.Repeat(" ", max(0, names-s.indent()-draw.Width(name)))
	sign := mark(s.Status, p.Beat, theme)
	if s.partial() {
		sign = theme.Warning.Render("≈")
	}
	left := fmt.Sprintf(" %s %s  %s", sign, number, theme.Strong.Render(name))
	folded := ""
	if hidden := p.below(s.ID); hidden != "" && !p.details && s.Status != agent.Running {
		folded = theme.Dim.Render("▸ ")
		if width >= 80 {
			folded += theme.Dim.Render(hidden + "  ")
		}
	}
	right := folded + s.outcome(p.Now, width, theme, false)
	room := func() int { return width - draw.Width(left) - draw.Width(right) - 4 }
	if s.attempt > 0 && room() < leastBrief {
		right = folded + s.outcome(p.Now, width, theme, true)
	}
	if text, room := s.summary(), room(); text != "" && room >= 6 {
		left += "  " + draw.Truncate(text, room)
	}
	if right != "" {
		left += " " // and at least one more
	}
	return draw.Justify(left, right, width)
}

// leastBrief is how many cells of its task the row of a worker's step should
// show; what it found gives way to that.
const leastBrief = 24

// last is the number of the answer: that of the last row, or one more than the
// highest of a step, for steps that were left out leave gaps.
func (p *Plan) last() int {
	_, last := p.Progress()
	for _, s := range p.Steps {
		if n, err := strconv.Atoi(s.ID); err == nil && n < 1000 {
			last = max(last, n+1)
		}
	}
	return last
}

// indent is how much further to the right the name of a worker's step begins.
func (s *step) indent() int {
	if s.under == "" {
		return 0
	}
	return draw.Width("  ") + draw.Width(s.ID) - draw.Width(s.under)
}

// mark shows a state by its shape; the colour only repeats it.
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
	if s.answer {
		return "answer"
	}
	if s.Tool == agent.DelegateTool {
		var task struct {
			Worker string `json:"worker_type"`
		}
		if json.Unmarshal(s.Input, &task) == nil && task.Worker != "" {
			return safetext.Line(task.Worker) + " worker"
		}
	}
	return safetext.Line(s.Tool)
}

// summary is what the step is given, in a few words.
func (s *step) summary() string {
	if s.answer {
		return ""
	}
	if s.Tool == agent.DelegateTool {
		var task struct {
			Task string `json:"task_description"`
		}
		if json.Unmarshal(s.Input, &task) == nil {
			return safetext.Line(task.Task)
		}
	}
	if text := arguments.Brief(s.Input); text != "" {
		return text
	}
	return safetext.Line(s.Description)
}

// outcome is the right end of a row: what came of the step, and how long it
// took; without what a worker found or was told before where that should be brief.
func (s *step) outcome(now time.Time, width int, theme *draw.Theme, brief bool) string {
	switch s.Status {
	case agent.Pending:
		if len(s.After) > 0 {
			return theme.Dim.Render("after " + safetext.Line(strings.Join(s.After, ", ")))
		}
		return ""
	case agent.Running:
		far := s.worker(brief)
		if len(s.Calls) > 0 {
			far = strings.TrimSpace(far + " " + draw.Truncate(s.Calls[len(s.Calls)-1].Far(), 30))
		}
		if now.Sub(s.began) >= 3*time.Second {
			far = strings.TrimSpace(far + "  " + draw.Duration(now.Sub(s.began)))
		}
		if far == "" {
			return ""
		}
		return theme.Dim.Render(far)
	case agent.Done:
		text := ""
		if len(s.Calls) > 0 && !brief {
			text = s.Calls[len(s.Calls)-1].found()
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
	word, reason, room := string(s.Status), safetext.Line(s.reason), max(30, width/2)
	for draw.Width(word+": "+reason) > room { // an error names its cause last
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
	for _, s := range p.Steps {
		fmt.Fprintf(&text, "%s %s %s %s\n", s.Status, s.ID, s.name(), s.summary())
	}
	return text.String()
}
