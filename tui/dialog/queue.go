package dialog

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/keys"
)

// Queue is the questions that wait for the user, of both kinds. A question
// waits behind one that is visible, of whichever kind.
type Queue struct {
	Permission Permission
	Input      Input
	inputFirst bool // what a server asks came before the permissions that wait
}

// Open reports whether a question waits for the user.
func (q *Queue) Open() bool { return q.Permission.Open() || q.Input.Open() }

// AsksInput reports whether what a server asks is the visible question.
func (q *Queue) AsksInput() bool { return q.Input.Open() && (q.inputFirst || !q.Permission.Open()) }

// Ask puts a question of either kind.
func (q *Queue) Ask(question agent.Body) {
	switch e := question.(type) {
	case agent.InputAsked:
		if !q.Input.Open() {
			q.inputFirst = !q.Permission.Open()
		}
		q.Input.Ask(e)
	case agent.PermissionAsked:
		if !q.Permission.Open() {
			q.inputFirst = q.Input.Open()
		}
		q.Permission.Ask(e)
	}
}

// SettleInput, SettlePermission and Close take questions away that the user did
// not answer. They return the letters of a text that one of them had taken.
func (q *Queue) SettleInput(id string) []tea.KeyPressMsg {
	return q.withdraw(func() { q.Input.Settle(id) })
}

func (q *Queue) SettlePermission(call string) []tea.KeyPressMsg {
	return q.withdraw(func() { q.Permission.Settle(call) })
}

func (q *Queue) Close() []tea.KeyPressMsg {
	return q.withdraw(func() {
		q.Permission.Close()
		q.Input.Close()
	})
}

func (q *Queue) withdraw(settle func()) []tea.KeyPressMsg {
	typed := slices.Concat(q.Permission.Typed, q.Input.Typed)
	settle()
	if len(q.Permission.Typed)+len(q.Input.Typed) > 0 {
		return nil
	}
	return typed
}

// ReturnLetters takes every choice back and returns the letters that questions took.
func (q *Queue) ReturnLetters() []tea.KeyPressMsg {
	return slices.Concat(q.Permission.GiveBack(), q.Input.GiveBack())
}

// Press gives a key to the visible question; writing says that the composer
// holds text. rest are the keys that are the composer's.
func (q *Queue) Press(pressed tea.KeyPressMsg, k *keys.Map, writing bool, now time.Time) (cmd tea.Cmd, rest []tea.KeyPressMsg) {
	if q.AsksInput() {
		q.Input.Writing = writing
		return q.Input.Press(pressed, k, now)
	}
	q.Permission.Writing = writing
	return q.Permission.Press(pressed, k, now)
}

// Paste reports whether the visible question took a paste: a field of its form,
// a reason or arguments that are being written.
func (q *Queue) Paste(text string) bool {
	switch {
	case q.AsksInput() && q.Input.Entered:
		q.Input.Form.Paste(text)
		q.Input.Width = 0
		return true
	case q.AsksInput() || !q.Open():
		return false
	}
	return q.Permission.Pasted(text)
}

// Typing reports whether what is typed goes into the question.
func (q *Queue) Typing() bool {
	return q.Permission.Reason != nil || q.Permission.Edit != nil || q.Input.Entered
}

// Restyle has the question drawn again in another look.
func (q *Queue) Restyle() { q.Permission.Width, q.Input.Width = 0, 0 }

// View lays the visible question out in at most height lines.
func (q *Queue) View(width, height int, k *keys.Map, writing bool, theme *draw.Theme, now time.Time) []string {
	if q.AsksInput() {
		q.Input.Appear(now, writing)
		return q.Input.View(width, height, k, theme, now)
	}
	q.Permission.Appear(now, writing)
	return q.Permission.View(width, height, k, theme, now)
}
