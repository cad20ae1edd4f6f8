package tui

import (
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/tui/dialog"
	"lifehub/tui/draw"
	"lifehub/tui/transcript"
)

// resumable is the last turn of the conversation if it did not end.
type resumable struct {
	Asked   *transcript.Question
	Offered bool // a line offers to resume it
	quiet   time.Time
}

// newResumable returns a turn that can now be resumed.
func newResumable(asked *transcript.Question, offered bool) *resumable {
	return &resumable{Asked: asked, Offered: offered, quiet: time.Now()}
}

// findResumable returns the last turn shown if it can be resumed, or nil. A turn that
// was killed or cut off is offered; one that the user stopped is not, but /continue
// resumes it.
func findResumable(exchanges []agent.Exchange, shown *transcript.Model) *resumable {
	if len(exchanges) == 0 {
		return nil
	}
	last := exchanges[len(exchanges)-1]
	if asked := shown.QuestionOf(last.Turn); asked != nil && chat.Resumable(last) {
		return newResumable(asked, last.Open)
	}
	return nil
}

// Press accepts the offer on Enter after a pause without other keys. idle reports
// that the input is empty and no turn runs. An Enter that comes too soon does
// nothing, as in a dialog.
func (r *resumable) Press(pressed tea.KeyPressMsg, k *draw.Keys, idle bool, now time.Time) (yes bool) {
	if !key.Matches(pressed, k.Send) {
		r.quiet = now
		return false
	}
	return now.Sub(r.quiet) >= dialog.QuietPeriod && r.Offered && idle
}
