package tui

import (
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/tui/dialog"
	"lifehub/tui/draw"
	"lifehub/tui/keys"
	"lifehub/tui/transcript"
)

// Resumable is the last turn of the conversation, which did not come to its end.
type Resumable struct {
	Asked   *transcript.Question
	Offered bool // a line says so
	quiet   time.Time
}

// NewResumable is a turn that can be resumed from now on.
func NewResumable(asked *transcript.Question, offered bool) *Resumable {
	return &Resumable{Asked: asked, Offered: offered, quiet: time.Now()}
}

// FindResumable finds out whether the last of the turns shown can be resumed;
// nil: it can't. What was killed or cut off is offered; what the user stopped is
// not, but /continue knows of it.
func FindResumable(exchanges []agent.Exchange, shown *transcript.Model) *Resumable {
	if len(exchanges) == 0 {
		return nil
	}
	last := exchanges[len(exchanges)-1]
	if last.Running || last.Undone || !last.Open && !last.Answer.Cut && last.Answer.Error == "" {
		return nil
	}
	if asked := shown.QuestionOf(last.Turn); asked != nil {
		return NewResumable(asked, last.Open)
	}
	return nil
}

// Press takes Enter, after a time without any other key, as a yes to the offer;
// idle says that nothing is written and no turn runs. An Enter that comes too soon
// does nothing, as in a dialog.
func (r *Resumable) Press(pressed tea.KeyPressMsg, k *keys.Map, idle bool, now time.Time) (yes bool) {
	if !key.Matches(pressed, k.Send) {
		r.quiet = now
		return false
	}
	return now.Sub(r.quiet) >= dialog.QuietPeriod && r.Offered && idle
}

// View is the offer, in at most height lines; empty says that nothing is written.
func (r *Resumable) View(width, height int, keys *keys.Map, theme *draw.Theme, empty bool) []string {
	return dialog.Invite("This was cut off", "Resume it", "or ask something else", empty, width, height, keys, theme)
}
