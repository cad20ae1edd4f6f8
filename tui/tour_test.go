package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/internal/chattest"
	payloads "lifehub/internal/hostile"
	"lifehub/internal/testenv"
	"lifehub/llm"
	"lifehub/tui/boxtest"
	"lifehub/tui/dialog"
	"lifehub/tui/draw"
	"lifehub/tui/panel"
	"lifehub/tui/transcript"
)

// tour is a screen on which one text stands wherever a text can stand.
type tour struct {
	*rig
	text string
}

func (tr *tour) Mentions(context.Context, string) ([]chat.Mention, error) {
	return []chat.Mention{{Name: "a" + tr.text, Detail: tr.text}, {Name: tr.text, Detail: tr.text}}, nil
}

func (tr *tour) Note(context.Context, string, string) (chat.Note, error) {
	return chat.Note{Path: tr.text, Text: tr.text + "\n" + tr.text}, nil
}

func (tr *tour) Templates() []chat.Template {
	return []chat.Template{{Name: tr.text, Help: tr.text}}
}

func (*tour) Fill(context.Context, string, map[string]string) (string, error) { return "", nil }

func (tr *tour) Figures(context.Context, string) ([]agent.Figures, error) {
	return []agent.Figures{{Of: tr.text, Title: tr.text, Turns: 1, Latency50: 5, Latency95: 9}}, nil
}

// onTour runs a test on such a screen, which is given its text by show.
func onTour(t *testing.T, width, height int, test func(tr *tour)) {
	tr := &tour{}
	o := chattest.WithEverything()
	o.Notes, o.Templates, o.Statistics = tr, tr, tr
	o.Commands = []chat.Command{{Name: "page", Help: "x", Args: "y"}}
	o.Servers = &chattest.Shop{}
	o.Artifacts = &chattest.Documents{}
	inRig(t, width, height, o, func(r *rig) {
		tr.rig = r
		test(tr)
	})
}

// show puts the text into every panel and dialog, one after the other, and
// has each looked at. Of every share panels it shows one, from the first on.
func (tr *tour) show(text string, first, share int, look func(panel string)) {
	r, m := tr.rig, tr.m
	tr.text = text
	m.Options.Servers.(*chattest.Shop).States = []chat.Server{{
		Name: text, Address: text, About: text, State: text,
		Running: true, Stderr: text, Calls: 1, Unseen: []chat.Change{{What: text, Before: "x", After: text}},
	}}
	*m.Options.Artifacts.(*chattest.Documents) = chattest.Documents{Name: text, Why: text, Text: text}
	failed := errors.New(text)
	for i, shown := range []struct {
		name string
		open func()
	}{
		{"first run", func() {
			m.Options.Setup = hostileFolders{text}
			r.run(m.openFirstRun())
			r.settle()
			r.keys("enter") // it is refused
			m.Update(tea.PasteMsg{Content: text})
		}},
		{"picker", func() {
			m.Update(panel.OpenMsg{Panel: &panel.Picker{Title: "x", Rows: []draw.Row{{Label: text, Detail: text}}}})
			m.Update(tea.PasteMsg{Content: text})
			m.panel.(*panel.Picker).Found = panel.FoundMsg{Rows: []draw.Row{{Label: text, Detail: text}}, Err: failed}
		}},
		{"tree", func() {
			m.Update(panel.OpenMsg{Panel: panel.NewTree([]agent.Exchange{
				{Turn: "a", Question: text, Answer: agent.Answer{Text: text}},
				{
					Turn: "b", After: "a", Siblings: []string{"b", "c"}, Question: text,
					Answer: agent.Answer{Error: text},
				},
				{Turn: "c", After: "a", Siblings: []string{"b", "c"}, Question: text, Current: true},
			}, time.Now())})
		}},
		{"figures", func() { r.run(m.openPage(panel.PageOf("stats"), "turn")); r.settle() }},
		{"servers", func() { m.openServers() }},
		{"what a server changed", func() { m.openServers(); r.keys("t") }},
		{"the log of a server", func() { m.openServers(); m.Update(panel.ServerLogMsg{Server: text, Text: text}) }},
		{"help", func() { m.panel = m.newHelp() }},
		{"page", func() { m.Update(panel.PageMsg{Text: text}); m.Update(panel.PageMsg{Err: failed}) }},
		{"context", func() {
			m.prompt.Window.Count(agent.ContextCounted{
				Agent: text, Used: 5, Allocated: 9,
				Parts: map[string]int{text: 5},
			})
			m.showContext()
		}},
		{"documents", func() {
			m.chat.id = "c1"
			r.run(panel.OpenArtifacts(m.base, m.Options.Artifacts, "c1", ""))
			r.settle()
		}},
		{"versions of a document", func() {
			r.run(panel.OpenArtifacts(m.base, m.Options.Artifacts, "c1", text))
			r.settle()
		}},
		{"a version of a document", func() {
			r.run(panel.OpenArtifacts(m.base, m.Options.Artifacts, "c1", text))
			r.settle()
			r.keys("enter")
		}},
		{"artifact and memory", func() {
			m.transcript.Add(&transcript.Notice{Text: chat.ArtifactLine(agent.ArtifactChanged{Name: text})})
			m.transcript.Add(&transcript.Remembered{Remembered: agent.Remembered{Facts: []agent.Fact{{
				Text: text,
				Path: text, Fits: true,
			}}, Exchanges: []agent.Recollection{{Question: text}}}})
		}},
		{"conversation", func() {
			m.Update(conversationMsg{ID: "c1", Title: text, Exchanges: []agent.Exchange{{
				Turn: "t", Question: text, Answer: agent.Answer{
					Text: text, Error: text, Cut: true,
					Sources:   []agent.Source{{N: 1, Path: text, Heading: text, Text: text}},
					Citations: []agent.Citation{{N: 1, Path: text, Quote: text}},
				},
			}}})
			m.goToSources()
			m.transcript.FoldChosen()
		}},
		{"edited question", func() {
			m.Update(tea.PasteMsg{Content: text})
			m.edit(&transcript.Question{
				Text: text,
				Turn: "t",
			})
		}},
		{"notes", func() { r.keys("@a") }},
		{"commands", func() { r.keys("/") }},
		{"queue", func() { m.composer.Queue = []string{text, text, text} }},
		{"pull", func() {
			m.pull = &pull{model: text, step: pullStep{status: text}, stop: func() {}}
		}},
		{"hint", func() { m.flash(text) }},
		{"history", func() { m.composer.History = []string{text}; r.keys("up") }},
		{"status", func() { m.Update(statusMsg{Provider: text, Model: text, Notes: 3}); m.Update(noticeMsg(text)) }},
		{"form", func() {
			m.asks.Input.Ask(agent.InputAsked{Question: agent.Question{
				From: text, Kind: agent.FormInput, Message: text, Check: func(json.RawMessage) error { return failed },
				Schema: chattest.Raw(fmt.Sprintf(`{"properties":{"a":{"title":%s,"description":%[1]s,`+
					`"default":%[1]s},"b":{"enum":[%[1]s,%[1]s]}}}`, inJSON(text))),
			}})
			m.asks.Input.Entered, m.asks.Input.Form.At = true, len(m.asks.Input.Form.Fields)
			r.run(m.asks.Input.FillIn(boxtest.Keys["enter"], &m.keys)) // the check refuses it
			r.settle()
		}},
		{"page to open", func() {
			m.asks.Input.Ask(agent.InputAsked{Question: agent.Question{
				From: text, Kind: agent.URLInput,
				Message: text, URL: text,
			}})
		}},
		{"model asked for", func() {
			m.asks.Input.Ask(agent.InputAsked{Question: agent.Question{
				From: text, Kind: agent.SamplingInput,
				Prompt: []llm.Message{{Role: llm.Role(text), Text: text}},
			}})
		}},
		{"permission", func() {
			m.asks.Permission.Ask(agent.PermissionAsked{
				Name: text, Call: "p", Input: chattest.Raw(`{"a":` + inJSON(text) + `}`), Reason: text, Rule: text,
				Preview: agent.Preview{Path: text, Diff: "+" + text, Text: text},
			})
		}},
	} {
		if (i+first)%share != 0 {
			continue
		}
		shown.open()
		m.draw()
		look(shown.name)
		tr.clear()
	}
}

// clear takes everything off the screen.
func (tr *tour) clear() {
	m := tr.m
	m.asks.Permission.Close()
	m.asks.Input, m.composer.Queue, m.editing, m.pull, m.panel = dialog.Input{}, nil, nil, nil, nil
	m.unfocus()
	m.composer.Clear()
	m.lists.Close()
	m.transcript.Clear()
	m.chat.title, m.hint, m.status = "", "", chattest.World
	tr.settle()
}

func inJSON(text string) string {
	quoted, _ := json.Marshal(text) // of a string it can't fail
	return string(quoted)
}

// fitsTerminal checks with a terminal model that no row reaches beyond the window.
func (r *rig) fitsTerminal(what string, width, height int) {
	r.t.Helper()
	screen := r.terminal(width+20, height)
	screen.WriteString(strings.ReplaceAll(r.m.View().Content, "\n", "\r\n"))
	for y := range height {
		for x := width; x < width+20; x++ {
			// The model gives a mark that ends a row a cell of its own: it takes none.
			if cell := screen.CellAt(x, y); cell != nil && strings.TrimSpace(cell.Content) != "" &&
				draw.Width(cell.Content) > 0 {
				r.t.Errorf("%s: row %d reaches column %d of %d with %q", what, y, x, width, cell.Content)
				return
			}
		}
	}
}

// TestHostileTextIsOnlyTextInEveryPanel shows each payload in every eighth
// panel, another one each time; LIFEHUB_SOAK=1 shows it in all.
func TestHostileTextIsOnlyTextInEveryPanel(t *testing.T) {
	testenv.WithoutRace(t)
	share := 8
	if os.Getenv("LIFEHUB_SOAK") == "1" {
		share = 1
	}
	onTour(t, 60, 40, func(tr *tour) {
		for i, payload := range payloads.Payloads {
			tr.show(payload.Text, i, share, func(panel string) {
				what := payload.Name + ": " + panel
				onlyOurs(t, what, tr.m.View().Content)
				onlyOurs(t, what+", title", tr.m.View().WindowTitle)
				tr.fits(what, 60, 40)
			})
		}
	})
}

// hostileFolders offer a folder of notes that cannot be used.
type hostileFolders struct{ text string }

func (h hostileFolders) Model(context.Context) chat.FoundModel {
	return chat.FoundModel{Detail: h.text, Next: h.text, Pull: h.text, Why: h.text}
}

func (h hostileFolders) Typed(context.Context, string) chat.TypedPath {
	return chat.TypedPath{
		Detail: h.text, Begun: []chat.Offer{{Name: h.text, Path: h.text, Detail: h.text}},
		Complete: h.text,
	}
}

func (h hostileFolders) Offers(context.Context) ([]chat.Offer, error) {
	return []chat.Offer{{Name: h.text, Path: h.text, Detail: h.text}}, nil
}

func (h hostileFolders) Take(context.Context, chat.Offer) error { return errors.New(h.text) }
