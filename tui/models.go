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
	"lifehub/tui/panel"
	"lifehub/tui/safetext"
	"lifehub/tui/transcript"
)

// offer asks whether to pull a model that was not there.
type offer struct {
	model    string
	question string // to be asked again
	dialog.Dialog
}

func (m *Model) offerPull(model, question string) {
	if m.Models != nil {
		m.offer = &offer{model: model, question: question}
	}
}

// answerOffer are the answers to the offer.
func (m *Model) answerOffer() []dialog.Choice {
	return []dialog.Choice{
		{Binding: m.keys.Once, Label: "Pull it", Do: func() tea.Cmd { return m.beginPull(m.offer.model, m.offer.question) }},
		{Binding: m.keys.Refuse, Label: "No", Do: func() tea.Cmd {
			m.composer.Set(safetext.Text(m.offer.question))
			m.offer = nil
			return nil
		}},
	}
}

// view is the offer: one line where there is room for it.
func (o *offer) view(width int, keys *keys.Map, theme *draw.Theme, choices []dialog.Choice, now time.Time) []string {
	what := "? " + safetext.Line(o.model) + " is not installed. "
	if answers := o.OneLine(choices, "", max(1, width-draw.Width(what)), keys, theme, now); draw.Width(answers) > 20 || width > 60 {
		return []string{draw.Truncate(theme.Warning.Render(what)+answers, width)}
	}
	return append(draw.StyleLines(theme.Warning.Render, draw.Wrap(strings.TrimSpace(what), width)), o.OneLine(choices, "", width, keys, theme, now))
}

// offered is what can be had for a key, in one line, or in a narrow window with
// the keys below.
func offered(what, key, orElse string, width int, theme *draw.Theme) []string {
	if draw.Width(what+key) <= width {
		return []string{draw.Truncate(theme.Warning.Render(what)+theme.Key.Render(key)+theme.Dim.Render(orElse), width)}
	}
	return append(draw.StyleLines(theme.Warning.Render, draw.Wrap(strings.TrimSpace(what), width)), theme.Key.Render(draw.Truncate(key, width)))
}

// pulling is a model on its way from the library.
type pulling struct {
	model, question string
	backend.PullStep
	steps  chan backend.PullStep
	cancel context.CancelFunc
}

// pullMsg is a step of a pull, or its end.
type pullMsg struct {
	backend.PullStep
	over bool
	err  error
}

func (m *Model) pull(name string) tea.Cmd {
	if name == "" || m.pulling != nil {
		m.flash("usage: /pull NAME, one at a time")
		return nil
	}
	return m.beginPull(name, "")
}

// beginPull fetches a model; question is put back into the composer when it is
// there.
func (m *Model) beginPull(name, question string) tea.Cmd {
	m.offer = nil
	ctx, cancel := context.WithCancel(m.base)
	p := &pulling{model: name, question: question, PullStep: backend.PullStep{Status: "starting"}, cancel: cancel, steps: make(chan backend.PullStep, 1)}
	m.pulling = p
	return tea.Batch(func() tea.Msg { return pullMsg{over: true, err: backend.Pull(ctx, m.Models, name, p.steps)} }, p.next())
}

// next waits for a step; the end comes on its own.
func (p *pulling) next() tea.Cmd {
	return func() tea.Msg {
		step, open := <-p.steps
		if !open {
			return nil
		}
		return pullMsg{PullStep: step}
	}
}

func (m *Model) pullProgress(msg pullMsg) tea.Cmd {
	p := m.pulling
	if p == nil {
		return nil
	}
	if !msg.over {
		p.PullStep = msg.PullStep
		return p.next()
	}
	m.pulling = nil
	stopped := errors.Is(msg.err, context.Canceled)
	p.cancel()
	text := ""
	switch {
	case stopped:
		text = "pull of " + p.model + " stopped; what arrived is kept by the server"
	case msg.err == nil:
		text = p.model + " is here"
	}
	first, ok := m.panel.(*panel.FirstRun)
	switch {
	case ok && msg.err != nil && !stopped:
		first.Wrong = msg.err.Error()
	case ok:
		m.flash(text)
	case text == "":
		m.transcript.Add(transcript.FailureOf(msg.err))
	default:
		m.transcript.Add(&transcript.Notice{Text: text})
	}
	if p.question != "" && m.composer.Empty() && m.turn == nil {
		if msg.err == nil {
			return m.ask(p.question)
		}
		m.composer.Set(safetext.Text(p.question))
	}
	return m.findModel()
}

// view is the bar of a pull.
func (p *pulling) view(width int, theme *draw.Theme, stop key.Binding) string {
	left := "pulling " + safetext.Line(p.model) + "  "
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

// chooseModel uses the named model, or lists those that are there.
func (m *Model) chooseModel(name string) tea.Cmd {
	if m.Models == nil {
		return nil
	}
	if name != "" {
		return m.use(name)
	}
	offline := m.status.Provider == "offline"
	return func() tea.Msg {
		p, list := panel.ModelPicker(m.base, m.Models, offline)
		p.Pick = func(at int) tea.Cmd { return m.use(list[at].Name) }
		return pickMsg{p, nil}
	}
}

type usingMsg struct {
	model string
	err   error
}

func (m *Model) use(name string) tea.Cmd {
	return func() tea.Msg { return usingMsg{name, m.Models.Use(m.base, name)} }
}

func (m *Model) using(msg usingMsg) {
	if msg.err == nil {
		m.transcript.Add(&transcript.Notice{Text: "now using " + msg.model})
		return
	}
	if missing := backend.MissingModel(msg.err); missing != "" {
		m.offerPull(missing, "")
		return
	}
	m.transcript.Add(transcript.FailureOf(msg.err))
}
