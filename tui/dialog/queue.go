package dialog

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/draw"
)

// Queue has the dialogs that wait for the user, permissions and inputs. One is visible at a
// time.
type Queue struct {
	Permission Permission
	Input      Input
	inputFirst bool // the input was requested before the waiting permissions
}

// Open reports whether a question waits for the user.
func (q *Queue) Open() bool { return q.Permission.Open() || q.Input.Open() }

// AsksInput reports whether the visible dialog asks for input.
func (q *Queue) AsksInput() bool { return q.Input.Open() && (q.inputFirst || !q.Permission.Open()) }

// Ask adds a dialog for an event.
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

// SettleInput, SettlePermission and Close remove dialogs that the user did not answer. They
// return the letters that a dialog had taken.
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

// ReturnLetters revokes all choices and returns the letters that dialogs took.
func (q *Queue) ReturnLetters() []tea.KeyPressMsg {
	return slices.Concat(q.Permission.GiveBack(), q.Input.GiveBack())
}

// Press handles a key, as [Dialog.Press] does.
func (q *Queue) Press(pressed tea.KeyPressMsg, k *draw.Keys, written string,
	now time.Time,
) (cmd tea.Cmd, rest []tea.KeyPressMsg) {
	if q.AsksInput() {
		return q.Input.Press(pressed, k, written, now)
	}
	return q.Permission.Press(pressed, k, written, now)
}

// Due returns the Enter that the visible dialog takes now, as [Dialog.Due] does.
func (q *Queue) Due(now time.Time) (enter tea.KeyPressMsg, due bool) {
	if q.AsksInput() {
		return q.Input.Due(now)
	}
	return q.Permission.Due(now)
}

// Paste reports whether the visible dialog took a paste, in a form, a reason or arguments
// that are being edited.
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

// Typing reports whether the dialog has an input that has the focus.
func (q *Queue) Typing() bool {
	return q.Permission.Reason != nil || q.Permission.Edit != nil || q.Input.Entered
}

// Restyle redraws the dialog with another theme.
func (q *Queue) Restyle() { q.Permission.Width, q.Input.Width = 0, 0 }

// View draws the visible dialog in at most height lines.
func (q *Queue) View(width, height int, k *draw.Keys, written string, theme *draw.Theme, now time.Time) []string {
	if q.AsksInput() {
		q.Input.Appear(now, written)
		return q.Input.View(width, height, k, theme, now)
	}
	q.Permission.Appear(now, written)
	return q.Permission.View(width, height, k, theme, now)
}
