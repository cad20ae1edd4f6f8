package tui

import (
	"context"
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"lifehub/tui/draw"
	"lifehub/tui/panel"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

// pull is a running pull of a model.
type pull struct {
	model string
	stop  context.CancelFunc
	step  pullStep
	steps chan pullStep
}

// pullStep is the progress of a pull in bytes; total is 0 while the size is unknown.
type pullStep struct {
	status      string
	done, total int64
}

// startPull pulls a model.
func (m *Model) startPull(name string) tea.Cmd {
	if name == "" || m.pull != nil {
		return m.flash("usage: /pull NAME, one at a time")
	}
	ctx, stop := context.WithCancel(m.base)
	p := &pull{model: name, stop: stop, step: pullStep{status: "starting"}, steps: make(chan pullStep)}
	m.pull = p
	return tea.Batch(p.next(), func() tea.Msg {
		defer close(p.steps)
		err := m.Options.Models.Pull(ctx, name, func(status string, done, total int64) {
			select {
			case p.steps <- pullStep{status, done, total}:
			case <-ctx.Done():
			}
		})
		return then(func() tea.Cmd { return m.pulled(err) })
	})
}

// next waits for the next step. The end of the pull is a separate message.
func (p *pull) next() tea.Cmd {
	return func() tea.Msg {
		step, open := <-p.steps
		if !open {
			return nil
		}
		return then(func() tea.Cmd { p.step = step; return p.next() })
	}
}

// String describes the pull in one line.
func (p *pull) String() string {
	of := safetext.Line(p.step.status)
	if p.step.total > 0 {
		of = fmt.Sprintf("%d %% · %s of %s", p.step.done*100/p.step.total, draw.Bytes(p.step.done),
			draw.Bytes(p.step.total))
	}
	return "pulling " + safetext.Line(p.model) + " · " + of
}

// pulled shows how the pull ended.
func (m *Model) pulled(err error) tea.Cmd {
	p := m.pull
	m.pull = nil
	p.stop()
	outcome := p.model + " is ready"
	if errors.Is(err, context.Canceled) {
		outcome, err = "pull of "+p.model+" stopped; the server saves what it has so far", nil
	}
	first, ok := m.panel.(*panel.FirstRun)
	switch {
	case ok && err != nil:
		first.Problem = err.Error()
	case ok:
		m.flash(outcome)
	case err != nil:
		m.transcript.Add(transcript.FailureOf(err))
	default:
		m.transcript.Add(&transcript.Notice{Text: outcome})
	}
	return m.findModel()
}
