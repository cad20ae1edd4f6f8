package turn

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/agent/agenttest"
	"lifehub/agent/gate"
	"lifehub/llm"
)

// vault is a vault whose notes a test changes.
type vault struct{ notes []agent.Source }

func (v *vault) Whole(ctx context.Context, _ int64) (list []agent.Source, _ error) {
	for _, s := range v.notes {
		if !agent.HidesNote(ctx, s.Path) {
			list = append(list, s)
		}
	}
	return list, nil
}

func (v *vault) Reread(agent.Source) (string, bool) { return "", false }
func (v *vault) About(context.Context) []string     { return nil }

func noteOf(path, text string) agent.Source {
	return agent.Source{Path: path, Vault: "/v", Line: 1, EndLine: 1 + strings.Count(text, "\n"), Text: text}
}

// wholeTalk is a conversation of a small model with a small vault.
type wholeTalk struct {
	*testing.T
	*Agent
	model *script
	vault *vault
	shelf *shelf
}

func newWholeTalk(t *testing.T, change func(*Options)) *wholeTalk {
	v := &vault{notes: []agent.Source{noteOf("boat.md", "# Boat\n\nThe boat lies at pier 4."), noteOf("bees.md", "# Bees\n\nThe bees winter in the barn.")}}
	w := &wholeTalk{T: t, model: &script{}, vault: v, shelf: &shelf{}}
	options := Options{
		Model: w.model, History: w.shelf, Notes: v, Session: inMode(agent.AutoMode), Now: fixedNow, Marks: agenttest.NewMarks(),
		Tools: tools(search(), &fakeTool{name: "read_note", schema: `{"type":"object","properties":{"path":{"type":"string"}}}`, reads: true}), Traits: being{Small: true},
	}
	if change != nil {
		change(&options)
	}
	w.Agent = New(options)
	w.Agent.vault.warmUp()
	return w
}

// ask asks, and returns the first request and the end of the turn.
func (w *wholeTalk) ask(question, answer string) (llm.Request, agent.Ended) {
	w.model.lines = append(w.model.lines, say(fmt.Sprintf(`{"tool":"answer","input":{"text":%q}}`, answer)))
	before := len(w.model.requests)
	end := ended(w.T, collect(w.Ask(w.Context(), "c1", question), nil))
	if n := len(w.model.requests) - before; n != 1 {
		w.Errorf("%s: %d requests, want one", question, n)
	}
	return w.model.requests[before], end
}

func system(r llm.Request) string { return r.Messages[0].Text }
func last(r llm.Request) string   { return r.Messages[len(r.Messages)-1].Text }

// A small vault is the beginning of each prompt, and stays the same while notes
// change; what changed is behind it.
func TestSmallVaultIsTheBeginningOfThePrompt(t *testing.T) {
	w := newWholeTalk(t, nil)
	first, end := w.ask("Where does the boat lie?", "The boat lies at pier 4.")
	if !strings.Contains(system(first), "[1] boat.md\n# Boat") || strings.Contains(last(first), "pier 4") {
		t.Errorf("the notes are not at the beginning:\n%s\n---\n%s", system(first), last(first))
	}
	if len(end.Sources) == 0 || end.Sources[0].Path != "boat.md" || slices.ContainsFunc(end.Sources, func(s agent.Source) bool { return s.Path == "bees.md" }) {
		t.Errorf("sources %+v, want the boat and not the bees", end.Sources)
	}
	if _, end := w.ask("And the bees?", "The bees winter in the barn."); len(end.Sources) == 0 || end.Sources[0].Path != "bees.md" || end.Sources[0].N != 1 || w.shelf.last().Citations[0].N != 1 {
		t.Errorf("sources %+v, want the bees with number 1; cited %+v", end.Sources, w.shelf.last().Citations)
	}
	if _, end := w.ask("In words of the notes?", "They say “winter in the barn” [2]."); len(end.Sources) == 0 || end.Sources[0].N != 2 {
		t.Errorf("sources %+v, want the number that the model used", end.Sources)
	}
	w.vault.notes[1] = noteOf("bees.md", "# Bees\n\nThe bees winter in the shed.")
	w.vault.notes = append(w.vault.notes, noteOf("new.md", "The key hangs in the hall."))
	second, _ := w.ask("Where do the bees winter?", "The bees winter in the shed.")
	same, _, _ := strings.Cut(system(first), "in the barn")
	if rest, ok := strings.CutPrefix(system(second), same+"in the barn"); !ok || !strings.Contains(rest, "in the shed") || !strings.Contains(rest, "The key hangs") {
		t.Errorf("the beginning changed, or what changed is not behind it:\n%s\n---\n%s", system(first), system(second))
	}
	if text := last(second); strings.Contains(text, "in the shed") {
		t.Errorf("the message repeats it:\n%s", text)
	}
	w.vault.notes = w.vault.notes[1:]
	third, _ := w.ask("And the boat?", "That is not in your notes.")
	if strings.Contains(system(third), "pier 4") || !strings.Contains(system(third), "in the shed") {
		t.Errorf("the beginning after a note was deleted:\n%s", system(third))
	}
}

// What the model may not have unasked is not in the prompt.
func TestWhatMayNotBeReadIsNotInTheBeginning(t *testing.T) {
	rule := func(text string) *gate.Rules {
		rules, err := gate.Parse("permissions.yaml", []byte("rules:\n  - "+text+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		return rules
	}
	for name, change := range map[string]func(*Options){
		"denied":  func(o *Options) { o.Rules = rule("{tool: read_note, args: {path: 'boat.md'}, level: deny}") },
		"asked":   func(o *Options) { o.Rules = rule("{tool: read_note, args: {path: '**/boat.md'}, level: confirm}") },
		"outside": func(o *Options) { _ = o.Marks.Mark(t.Context(), "web", []string{"The boat lies at pier 4."}) },
		"a hook":  func(o *Options) { o.Before = beforeCall(func(context.Context, gate.Before) error { return nil }) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWholeTalk(t, change)
			if first, _ := w.ask("Where do the bees winter?", "In the barn."); strings.Contains(system(first), "pier 4") {
				t.Errorf("it is there:\n%s", system(first))
			}
		})
	}
}

// A vault that is too large, or of which the server has read nothing, is searched.
func TestLargeVaultIsSearched(t *testing.T) {
	for name, change := range map[string]func(*wholeTalk){
		"too large": func(w *wholeTalk) {
			w.vault.notes = append(w.vault.notes, noteOf("long.md", strings.Repeat("many words ", 2000)))
		},
		"no warm-up":         func(w *wholeTalk) { w.Agent.vault = wholeVault{} },
		"half of the window": func(w *wholeTalk) { w.Server = &agenttest.Server{Tokens: 20} },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWholeTalk(t, nil)
			change(w)
			if first, _ := w.ask("Where do the bees winter?", "In the barn."); strings.Contains(system(first), "pier 4") {
				t.Errorf("the vault is in the prompt:\n%s", system(first))
			}
		})
	}
}
