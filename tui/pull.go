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

// pullState has the running pull and the offer of one, each nil if there is none.
type pullState struct {
	Running *pulling
	Offer   *pullOffer
}

// Stop stops the pull, and reports whether there was one.
func (s *pullState) Stop() bool {
	if s.Running != nil {
		s.Running.Cancel()
	}
	return s.Running != nil
}

// View draws both in at most height lines.
func (s *pullState) View(width, height int, keys *keys.Map, theme *draw.Theme, written string, now time.Time) (lines []string) {
	if s.Running != nil {
		lines = append(lines, s.Running.View(width, theme, keys.Stop))
	}
	if s.Offer != nil {
		lines = append(lines, s.Offer.View(width, height-len(lines), keys, theme, written, now)...)
	}
	return lines
}

// pullOffer asks whether to pull a missing model.
type pullOffer struct {
	Model    string
	Question string // to be asked again
	Dialog   dialog.Dialog
}

// Choices are the answers to the offer.
func (o *pullOffer) Choices(k *keys.Map, pull, refuse func() tea.Cmd) []dialog.Choice {
	return []dialog.Choice{{Binding: k.Once, Label: "Pull it", Do: pull}, {Binding: k.Refuse, Label: "No", Do: refuse}}
}

// View draws the offer in at most height lines.
func (o *pullOffer) View(width, height int, keys *keys.Map, theme *draw.Theme, written string, now time.Time) []string {
	o.Dialog.Appear(now, written)
	return o.Dialog.Offer(o.Model+" is not installed", o.Choices(keys, nil, nil), width, height, keys, theme, now)
}

// pulling is a running pull of a model.
type pulling struct {
	Model    string
	Question string // asked, or put back into the composer, at the end
	Cancel   context.CancelFunc
	step     pullStep
	steps    chan pullStep
}

// pullMsg is a step of a pull, or its end.
type pullMsg struct {
	Step pullStep
	Over bool
	Err  error
}

// beginPull starts pulling a model.
func beginPull(ctx context.Context, models backend.Models, name, question string) (*pulling, tea.Cmd) {
	ctx, cancel := context.WithCancel(ctx)
	p := &pulling{Model: name, Question: question, step: pullStep{Status: "starting"}, Cancel: cancel, steps: make(chan pullStep, 1)}
	return p, tea.Batch(func() tea.Msg { return pullMsg{Over: true, Err: fetch(ctx, models, name, p.steps)} }, p.next())
}

// next waits for the next step. The end of the pull is a separate message.
func (p *pulling) next() tea.Cmd {
	return func() tea.Msg {
		step, open := <-p.steps
		if !open {
			return nil
		}
		return pullMsg{Step: step}
	}
}

// Take records a step and waits for the next.
func (p *pulling) Take(msg pullMsg) tea.Cmd {
	p.step = msg.Step
	return p.next()
}

// Outcome describes how the pull ended. It is empty for an error other than a stop by
// the user.
func (p *pulling) Outcome(err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "pull of " + p.Model + " stopped; the server saves what it has so far"
	case err == nil:
		return p.Model + " is ready"
	}
	return ""
}

// View draws the progress bar of a pull.
func (p *pulling) View(width int, theme *draw.Theme, stop key.Binding) string {
	left := "pulling " + safetext.Line(p.Model) + "  "
	right := "  " + safetext.Line(p.step.Status) + " · " + stop.Help().Key + " " + stop.Help().Desc
	if p.step.Total > 0 {
		right = fmt.Sprintf("  %d %% · %s of %s · %s %s", p.step.Done*100/p.step.Total, draw.Bytes(p.step.Done), draw.Bytes(p.step.Total), stop.Help().Key, stop.Help().Desc)
	}
	room := width - draw.Width(left) - draw.Width(right)
	return draw.Truncate(left+bar(p.step.Done, p.step.Total, room, theme)+theme.Dim.Render(right), width)
}

// bar draws a progress bar of at most 30 cells.
func bar(done, total int64, room int, theme *draw.Theme) string {
	room = min(room, 30)
	if room < 5 || total <= 0 {
		return ""
	}
	full := max(0, min(room, int(done*int64(room)/total)))
	return theme.Running.Render(strings.Repeat("█", full)) + theme.Border.Render(strings.Repeat("░", room-full))
}

// pullStep is the progress of a pull in bytes; Total is 0 while the size is unknown.
type pullStep struct {
	Status      string
	Done, Total int64
}

// fetch pulls a model, sends its steps and closes the channel, which needs room for
// one. A slow reader gets only the newest step.
func fetch(ctx context.Context, models backend.Models, name string, steps chan pullStep) error {
	defer close(steps)
	return models.Pull(ctx, name, func(status string, done, total int64) {
		step := pullStep{status, done, total}
		for {
			select {
			case steps <- step:
				return
			default:
			}
			select { // replace an older step that was not read
			case <-steps:
			default:
			}
		}
	})
}
