package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/tui/backend"
	"lifehub/tui/dialog"
	"lifehub/tui/draw"
	"lifehub/tui/keys"
	"lifehub/tui/safetext"
)

// State is the pull under way and the offer of one; nil: none.
type State struct {
	Running *Pulling
	Offer   *Offer
}

// Stop stops the pull, and reports whether there was one.
func (s *State) Stop() bool {
	if s.Running != nil {
		s.Running.Cancel()
	}
	return s.Running != nil
}

// View is both, in at most height lines.
func (s *State) View(width, height int, keys *keys.Map, theme *draw.Theme, writing bool, now time.Time) (lines []string) {
	if s.Running != nil {
		lines = append(lines, s.Running.View(width, theme, keys.Stop))
	}
	if s.Offer != nil {
		lines = append(lines, s.Offer.View(width, height-len(lines), keys, theme, writing, now)...)
	}
	return lines
}

// Offer asks whether to pull a model that was not there.
type Offer struct {
	Model    string
	Question string // to be asked again
	Dialog   dialog.Dialog
}

// Choices are the answers to the offer.
func (o *Offer) Choices(k *keys.Map, pull, refuse func() tea.Cmd) []dialog.Choice {
	return []dialog.Choice{{Binding: k.Once, Label: "Pull it", Do: pull}, {Binding: k.Refuse, Label: "No", Do: refuse}}
}

// View is the offer, in at most height lines.
func (o *Offer) View(width, height int, keys *keys.Map, theme *draw.Theme, writing bool, now time.Time) []string {
	o.Dialog.Appear(now, writing)
	return o.Dialog.Offer(o.Model+" is not installed", o.Choices(keys, nil, nil), width, height, keys, theme, now)
}

// Pulling is a model on its way from the library.
type Pulling struct {
	Model    string
	Question string // is asked, or put back into the composer, when it is there
	Cancel   context.CancelFunc
	Step
	steps chan Step
}

// Msg is a step of a pull, or its end.
type Msg struct {
	Step
	Over bool
	Err  error
}

// Begin fetches a model.
func Begin(ctx context.Context, models backend.Models, name, question string) (*Pulling, tea.Cmd) {
	ctx, cancel := context.WithCancel(ctx)
	p := &Pulling{Model: name, Question: question, Step: Step{Status: "starting"}, Cancel: cancel, steps: make(chan Step, 1)}
	return p, tea.Batch(func() tea.Msg { return Msg{Over: true, Err: fetch(ctx, models, name, p.steps)} }, p.next())
}

// next waits for a step; the end comes on its own.
func (p *Pulling) next() tea.Cmd {
	return func() tea.Msg {
		step, open := <-p.steps
		if !open {
			return nil
		}
		return Msg{Step: step}
	}
}

// Take notes a step and waits for the next.
func (p *Pulling) Take(msg Msg) tea.Cmd {
	p.Step = msg.Step
	return p.next()
}

// Outcome says how the pull ended; "": with an error that is not the user's own
// stop.
func (p *Pulling) Outcome(err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "pull of " + p.Model + " stopped; the server saves what it has so far"
	case err == nil:
		return p.Model + " is ready"
	}
	return ""
}

// View is the bar of a pull.
func (p *Pulling) View(width int, theme *draw.Theme, stop key.Binding) string {
	left := "pulling " + safetext.Line(p.Model) + "  "
	right := "  " + safetext.Line(p.Status) + " · " + stop.Help().Key + " " + stop.Help().Desc
	if p.Total > 0 {
		right = fmt.Sprintf("  %d %% · %s of %s · %s %s", p.Done*100/p.Total, draw.Bytes(p.Done), draw.Bytes(p.Total), stop.Help().Key, stop.Help().Desc)
	}
	room := width - draw.Width(left) - draw.Width(right)
	return draw.Truncate(left+bar(p.Done, p.Total, room, theme)+theme.Dim.Render(right), width)
}

// bar draws how far something is, at most 30 cells wide.
func bar(done, total int64, room int, theme *draw.Theme) string {
	room = min(room, 30)
	if room < 5 || total <= 0 {
		return ""
	}
	full := max(0, min(room, int(done*int64(room)/total)))
	return theme.Running.Render(strings.Repeat("█", full)) + theme.Border.Render(strings.Repeat("░", room-full))
}

// Step is how far a model is on its way; Total is 0 while the size is unknown.
type Step struct {
	Status      string
	Done, Total int64
}

// fetch fetches a model, sends the steps and closes them. Of a slow reader's
// steps, which need room for one, only the newest stays.
func fetch(ctx context.Context, models backend.Models, name string, steps chan Step) error {
	defer close(steps)
	return models.Pull(ctx, name, func(status string, done, total int64) {
		step := Step{status, done, total}
		for {
			select {
			case steps <- step:
				return
			default:
			}
			select { // an older step that nobody has seen may go
			case <-steps:
			default:
			}
		}
	})
}
