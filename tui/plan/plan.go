// Package plan draws the steps and calls of a turn, folded to a line or expanded.
package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Plan is the steps of a turn with their current states. It is expanded while it runs and if
// something went wrong, and otherwise folds to one line when it is done, unless the user expanded
// or folded it. Details show the input and output of calls below each step.
type Plan struct {
	Steps           []step
	repairs         []string // steps of the model's plan that were left out or changed
	fallback        bool     // the model gave no usable plan
	fallbackReasons []string // why it gave none
	Elsewhere       bool     // the steps are in the sidebar; only the progress is shown here
	set, open       bool     // whether the user chose, and if so whether the steps are shown
	details         bool     // arguments and results are shown
	began           time.Time
	Took            time.Duration // 0 while it runs
	Now             time.Time     // time of the last tick, for the duration of running steps
	Beat            int           // frame of the spinner
}

// step is one row of a plan.
type step struct {
	Step    agent.Step
	Status  agent.Status
	reason  string
	Calls   []Call
	under   string // ID of the step whose worker makes this one; "" for the turn itself
	attempt int    // of its worker; 0 if it has none
	judged  []agent.Evaluated
	Allowed string // how the user allowed it
	began   time.Time
	Took    time.Duration
}

func New(made agent.PlanMade, now time.Time, details bool) *Plan {
	p := &Plan{began: now, Now: now, details: details}
	if made.Fallback {
		p.fallback, p.fallbackReasons, made.Dropped = true, made.Dropped, nil
	}
	p.Add(made)
	p.settle(now)
	return p
}

// Add appends steps.
func (p *Plan) Add(made agent.PlanMade) {
	p.repairs = append(p.repairs, made.Dropped...)
	for _, s := range made.Steps {
		p.Steps = append(p.Steps, step{Step: s, Status: agent.Pending})
		p.Took = 0
	}
}

// settle stops the clock if all steps have ended.
func (p *Plan) settle(now time.Time) {
	if p.Took == 0 && !slices.ContainsFunc(p.Steps, func(s step) bool { return !s.ended() }) {
		p.Took = max(1, now.Sub(p.began))
	}
}

func (s *step) ended() bool { return s.Status != agent.Pending && s.Status != agent.Running }

// Open reports whether the steps are shown.
func (p *Plan) Open() bool {
	return !p.Elsewhere && (p.details || p.set && p.open || !p.set && (p.Took == 0 || slices.ContainsFunc(p.Steps, func(s step) bool { return wentWrong(&s) })))
}

// SetOpen shows the steps or folds them to one line.
func (p *Plan) SetOpen(open bool) {
	p.set, p.open, p.details, p.Elsewhere = true, open, p.details && open, false
}

// Narrow draws the steps for a narrow column. The outcome of a step is on a line below if it does
// not fit behind the input.
func (p *Plan) Narrow(width int, theme *draw.Theme) (lines []string) {
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.under != "" && !p.shown(s) {
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
	return s.Status == agent.StepFailed || s.Status == agent.Denied && !strings.HasPrefix(s.reason, declined) || s.partial()
}

// declined begins the reason of a step that the user declined.
const declined = "you said no"

// Nest adds the steps of a worker below the step it works for.
func (p *Plan) Nest(made agent.PlanMade) {
	at := -1
	for i, s := range p.Steps {
		if s.Step.ID == made.Under || s.under == made.Under {
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

// Tried records that a worker begins an attempt.
func (p *Plan) Tried(id string, attempt int) {
	if s := p.Step(id); s != nil {
		s.attempt = attempt
	}
}

// Judged records the evaluator's verdict on an attempt.
func (p *Plan) Judged(e agent.Evaluated) {
	if s := p.Step(e.Step); s != nil {
		s.judged = append(s.judged, e)
	}
}

// below summarises the hidden rows of a step's worker: their number and what went wrong. It returns
// "" if there are none.
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

// verdicts returns lines with the evaluator's verdict on each attempt of a step's worker.
func (s *step) verdicts(width int, theme *draw.Theme) (lines []string) {
	for _, e := range s.judged {
		text := fmt.Sprintf("attempt %d, %s", e.Attempt, verdict(e))
		if e.Feedback != "" {
			text += ": " + e.Feedback
		}
		lines = append(lines, draw.StyleLines(theme.Dim.Render, draw.Hang("     ", safetext.Line(text), width))...)
		if !e.Passed && e.Report != "" { // a report that passed is the result of the step
			lines = append(lines, draw.StyleLines(theme.Dim.Render, draw.Hang("     its report: ", safetext.Line(e.Report), width))...)
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
	return s.Status == agent.Done && len(s.judged) > 0 && !s.judged[len(s.judged)-1].Passed
}

// worker describes the progress of the step's worker, or returns "" if it has none. If brief is
// set, earlier attempts are omitted.
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

// shown reports whether a row is drawn. The rows of a worker are drawn while it works and when
// details are shown.
func (p *Plan) shown(s *step) bool {
	if s.under == "" || p.details {
		return true
	}
	parent := p.Step(s.under)
	return parent != nil && parent.Status == agent.Running
}

// InWords rewords the reason of a step, which addresses the model, for the user.
func InWords(reason string) string {
	return strings.Replace(reason, gate.Declined, declined, 1)
}

// Mark sets the state of a step.
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
	s.Status, s.reason = status, InWords(reason)
	p.settle(now)
}

// Step returns the step with an ID, or nil.
func (p *Plan) Step(id string) *step {
	for i := range p.Steps {
		if p.Steps[i].Step.ID == id {
			return &p.Steps[i]
		}
	}
	return nil
}

// Call returns the call with an ID, or nil.
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

// End stops the clock and marks unfinished steps as skipped.
func (p *Plan) End(now time.Time) {
	for i := range p.Steps {
		if s := &p.Steps[i]; !s.ended() {
			s.Status = agent.Skipped
		}
	}
	p.settle(now)
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
		lines = append(lines, theme.Dim.Render(draw.Truncate("  the model made no usable plan: searching the notes", width)))
	}
	for _, what := range p.fallbackReasons {
		lines = append(lines, draw.StyleLines(theme.Dim.Render, draw.Hang("  because: ", safetext.Line(what), width))...)
	}
	for _, what := range p.repairs {
		lines = append(lines, draw.StyleLines(theme.Dim.Render, draw.Hang("  repaired: ", safetext.Line(what), width))...)
	}
	return lines
}

// heading returns the line that a plan folds to: its progress while it runs, and then what was
// done, what was found and how long it took.
func (p *Plan) heading(width int, theme *draw.Theme) string {
	status, did, brought, passed := agent.Done, "", "", p.Took
	if passed == 0 {
		status, did, passed = agent.Running, p.Progress(), p.Now.Sub(p.began)
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
	for _, s := range p.Steps {
		if s.under == "" {
			if total++; s.ended() {
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
	if p.fallback {
		parts = append(parts, "no usable plan")
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		for _, c := range s.Calls {
			passages += c.Sources
			nothing = nothing || c.nothing
		}
		if s.under != "" {
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
		if c.health != "" {
			return c.health
		}
	}
	return did
}

// row returns one line: state, number, tool, input, outcome, time.
func (p *Plan) row(i, names, width int, theme *draw.Theme) string {
	s := &p.Steps[i]
	number := safetext.Line(s.Step.ID)
	if s.under != "" {
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
	if s.attempt > 0 && room() < leastBrief {
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
	if s.under == "" {
		return 0
	}
	return draw.Width("  ") + draw.Width(s.Step.ID) - draw.Width(s.under)
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
	if text := BriefArguments(s.Step.Input); text != "" {
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
	for _, s := range p.Steps {
		fmt.Fprintf(&text, "%s %s %s %s\n", s.Status, s.Step.ID, s.name(), s.summary())
	}
	return text.String()
}
