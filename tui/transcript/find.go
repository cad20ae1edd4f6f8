package transcript

import (
	"slices"
)

// FoldChosen folds or unfolds what has the focus.
func (t *Model) FoldChosen() {
	switch f := t.Item(t.Chosen).(type) {
	case Foldable:
		row := t.rowOf(t.Chosen)
		if p, ok := f.(*Plan); ok {
			p.SetOpen(!p.Open())
		} else {
			f.Fold(!f.Folded())
		}
		t.Invalidate(f)
		if row >= 0 { // its heading stays where the user looks
			t.lookAt(t.From(Spot{Entry: t.Chosen, Line: 0}, -row))
		}
	case *Sources:
		f.Preview = !f.Preview
		t.Invalidate(f)
		t.Reveal()
	}
}

// Opens reports whether what has the focus shows more or less once it is opened or folded.
func (t *Model) Opens() bool {
	switch i := t.Item(t.Chosen).(type) {
	case *Question:
		return i.shortens()
	case *Sources:
		return len(i.List) > 0
	case Foldable:
		return true
	}
	return false
}

// jump scrolls to the next question, or to the one before.
func (t *Model) jump(by int) {
	if len(t.Entries) == 0 {
		return
	}
	from := t.Start()
	at := from.Entry
	if by < 0 && from.Line > 0 {
		at++ // the question above may be the one that is half visible
	}
	for at += by; at >= 0 && at < len(t.Entries); at += by {
		if _, ok := t.Entries[at].Item.(*Question); ok {
			t.lookAt(Spot{Entry: at, Line: 0})
			return
		}
	}
	if by > 0 {
		t.ToEnd()
	} else {
		t.lookAt(Spot{})
	}
}

// foldPlans folds all plans if the last one is open, and opens them otherwise.
func (t *Model) foldPlans() {
	var plans []*Plan
	for _, e := range t.Entries {
		if p, ok := e.Item.(*Plan); ok {
			plans = append(plans, p)
		}
	}
	for _, p := range plans {
		t.Invalidate(p)
	}
	if len(plans) > 0 {
		open := !plans[len(plans)-1].Open()
		for _, p := range plans {
			p.SetOpen(open)
		}
	}
}

// unfold shows or hides the details of all tools and thoughts, and those of the last
// turn in any case where the user can see them.
func (t *Model) unfold() {
	t.Unfolded = !t.Unfolded
	defer t.revealDetails()
	for at := range t.Entries {
		if f, ok := t.Entries[at].Item.(Foldable); ok && f.Folded() == t.Unfolded {
			f.Fold(!t.Unfolded)
			t.Entries[at].Width = 0
		}
	}
}

// revealDetails scrolls to the first tool or thought of the last turn if the end of the
// transcript is shown and it is above.
func (t *Model) revealDetails() {
	if !t.Unfolded {
		t.ToEnd()
		return
	}
	for at := t.afterQuestion(len(t.Entries)); at < len(t.Entries); at++ {
		if _, ok := t.Entries[at].Item.(Foldable); ok {
			if !t.Scrolled && t.hidden(at, 0) {
				t.lookAt(Spot{Entry: at})
			}
			return
		}
	}
}

// last returns the last item of a kind, at an index or before, and its index; -1 if there is none.
func last[T Item](t *Model, at int) (item T, found int) {
	for at = min(at, len(t.Entries)-1); at >= 0; at-- {
		if i, ok := t.Entries[at].Item.(T); ok {
			return i, at
		}
	}
	return item, -1
}

// afterQuestion returns the index of the first item below the question of the turn at an index.
func (t *Model) afterQuestion(at int) int {
	_, asked := last[*Question](t, at)
	return asked + 1
}

// QuestionBack finds a question of the transcript, counted back from the last
// one, which is 1; nil if there is none.
func (t *Model) QuestionBack(n int) *Question {
	q, at := last[*Question](t, len(t.Entries))
	for ; n > 1 && q != nil; n-- {
		q, at = last[*Question](t, at-1)
	}
	return q
}

// ChosenQuestion is the question of the turn that has the focus, else the last one.
func (t *Model) ChosenQuestion() *Question {
	if q, _ := last[*Question](t, t.Chosen); q != nil {
		return q
	}
	return t.QuestionBack(1)
}

// QuestionOf is the question of a turn, nil when it is not shown.
func (t *Model) QuestionOf(turn string) *Question {
	for _, e := range t.Entries {
		if q, ok := e.Item.(*Question); ok && turn != "" && q.Turn == turn {
			return q
		}
	}
	return nil
}

// LastTurn is the last turn of the shown branch; "" before the first question.
func (t *Model) LastTurn() string {
	if q := t.QuestionBack(1); q != nil {
		return q.Turn
	}
	return ""
}

// CanUndo shows in the last turn that a command can undo its changes.
func (t *Model) CanUndo() {
	for _, e := range t.Entries[t.afterQuestion(len(t.Entries)):] {
		if s, ok := e.Item.(*Sources); ok {
			s.undo = true
		}
	}
}

// LastAnswer is the newest answer, nil if there is none.
func (t *Model) LastAnswer() *Answer {
	a, _ := last[*Answer](t, len(t.Entries))
	return a
}

// ChooseSources focuses the sources of the last answer; it reports
// false when there are none.
func (t *Model) ChooseSources() bool {
	for at := len(t.Entries) - 1; at >= 0; at-- {
		if s, ok := t.Entries[at].Item.(*Sources); ok && len(s.List) > 0 {
			t.Choose(at, 0)
			t.Reveal()
			return true
		}
	}
	return false
}

// KeepLast drops all but the last turns if there are more than most.
func (t *Model) KeepLast(few, most int) {
	var questions []int
	for at, e := range t.Entries {
		if _, ok := e.Item.(*Question); ok {
			questions = append(questions, at)
		}
	}
	if n := len(questions); n > most {
		last := t.Item(questions[n-few-1]).(*Question)
		t.dropFirst(questions[n-few], last.Turn)
	}
}

// ScrollTo scrolls to the question of a turn. If choose is set it focuses it, and reports
// whether it did.
func (t *Model) ScrollTo(turn string, choose bool) bool {
	at := t.index(t.QuestionOf(turn))
	if at < 0 {
		return false
	}
	if choose {
		t.Choose(at, 0)
	}
	t.lookAt(Spot{at, 0})
	return choose
}

// Notices are the lines of the notices. only reports that there are no other items.
func (t *Model) Notices() (lines []string, only bool) {
	for at, e := range t.Entries {
		if _, ok := e.Item.(*Notice); !ok {
			return nil, false
		}
		lines = append(append(lines, ""), t.placedAll(at)...)
	}
	return lines, true
}

// OnlyNotices returns the notices, if there is nothing else.
func (t *Model) OnlyNotices() (notices []*Notice) {
	for _, e := range t.Entries {
		n, ok := e.Item.(*Notice)
		if !ok {
			return nil
		}
		notices = append(notices, n)
	}
	return notices
}

// Printed is the whole conversation, for the terminal's own scrollback.
func (t *Model) Printed() (lines []string) {
	t.numberLast(nil)
	for at := range t.Entries {
		lines = append(lines, t.placedAll(at)...)
	}
	return WithoutEnd(lines)
}

// placedAll returns all lines of an item as shown on the screen.
func (t *Model) placedAll(at int) (lines []string) {
	for n := range t.Lines(at) {
		lines = append(lines, t.placed(at, n))
	}
	return lines
}

// WithoutEnd removes all but one of the blank lines at the end.
func WithoutEnd(lines []string) []string {
	end := len(lines)
	for end > 0 && lines[end-1] == "" {
		end--
	}
	return slices.Clip(lines[:min(len(lines), end+1)])
}
