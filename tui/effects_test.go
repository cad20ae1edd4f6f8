package tui

import (
	"context"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/internal/chattest"
)

var (
	taskAdded = agent.Effects{{Kind: agent.NoteChanged, Path: "tasks.md", Lines: &agent.Lines{Added: 1}}}
	unreadAt  = agent.Cited{Citation: agent.Citation{
		Path: "secret.md", Line: 3, Verdict: agent.NotFound,
		Detail: "nobody read it",
	}}
)

// did is a conversation whose only turn changed a note.
type did struct{ chattest.Kept }

func (did) Latest(context.Context, string, int) ([]agent.Exchange, error) {
	return []agent.Exchange{{Turn: "c1.1", Current: true, Question: "Add it", Answer: agent.Answer{
		Text: "I have mailed Bob.", Effects: taskAdded, Citations: []agent.Citation{unreadAt.Citation},
	}}}, nil
}

func (d did) Exchanges(ctx context.Context, id string) ([]agent.Exchange, error) {
	return d.Latest(ctx, id, 1)
}

func reopened() chat.Options {
	o := chattest.WithEverything()
	o.Conversations, o.Conversation = did{}, "c1"
	return o
}

func TestLastLineOfATurnShowsItsEffects(t *testing.T) {
	hostile := agent.Effects{{Kind: agent.ToolCalled, Tool: "a\x1b[31mb\nc", Server: "s\u202e", Count: 1}}
	for name, tc := range map[string]struct {
		bodies []agent.Body
		want   string
	}{
		"it changed a note": {[]agent.Body{
			agent.Said{Content: "Done."},
			agent.Ended{Answer: "Done.", Effects: taskAdded},
		}, "changed tasks.md (+1)"},
		"it changed nothing": {[]agent.Body{
			agent.Said{Content: "I have mailed Bob."},
			agent.Ended{Effects: agent.Effects{}},
		}, "changed nothing"},
		"it was refused": {[]agent.Body{
			agent.Said{Content: "I have added it."},
			agent.Ended{Effects: agent.Effects{{Kind: agent.Unchanged, Tool: "add_task"}}},
		}, "! nothing"},
		"it knew by heart": {[]agent.Body{
			agent.Said{Content: "Paris."},
			agent.Ended{Effects: agent.Effects{{Kind: agent.WithoutNotes}}},
		}, "answered without"},
		"it failed": {[]agent.Body{agent.Failed{
			Message: "the model is gone", Hint: "ollama serve",
			Effects: taskAdded,
		}}, "changed tasks.md (+1)"},
		"it was stopped": {[]agent.Body{
			agent.Said{Content: "I"},
			agent.Ended{Metrics: agent.Metrics{Interrupted: true}, Effects: taskAdded},
		}, "changed tasks.md (+1)"},
		"hostile names": {[]agent.Body{agent.Ended{Effects: hostile}}, "called ab c (s)"},
		"a source nobody read": {[]agent.Body{
			agent.Said{Content: "See secret.md:3."},
			unreadAt,
			agent.Ended{Effects: agent.Effects{}},
		}, "changed nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			inRig(t, 80, 24, chattest.WithWorld(chattest.Play(tc.bodies...)), func(r *rig) {
				r.ask("do it")
				r.mustShow("  " + tc.want)
				if name == "a source nobody read" {
					r.mustShow("[?] secret.md:3")
					r.mustShow("✗ nobody read it")
				}
			})
			var out strings.Builder
			if _, err := RunPlain(t.Context(), chattest.WithWorld(chattest.Play(tc.bodies...)),
				strings.NewReader("do it\n/quit\n"), &out); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), "\n"+tc.want) {
				t.Errorf("--plain writes\n%s", out.String())
			}
			if name == "a source nobody read" && !strings.Contains(out.String(), "[?] secret.md:3 ✗ nobody read it\n") {
				t.Errorf("--plain writes\n%s", out.String())
			}
		})
	}
	inRig(t, 80, 24, reopened(), func(r *rig) {
		r.mustShow("✗ nobody read it")
		r.mustShow("  changed tasks.md (+1)")
		r.mustNotShow("/undo") // there is no such command
	})
	withUndo := reopened()
	withUndo.Commands = append(withUndo.Commands, chat.Command{
		Name: "undo",
		Run:  func(context.Context, string, string) (string, error) { return "", nil },
	})
	inRig(t, 80, 24, withUndo, func(r *rig) { r.mustShow("/undo") })
	var out strings.Builder
	if _, err := RunPlain(t.Context(), reopened(), strings.NewReader("/quit\n"), &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "\nchanged tasks.md (+1)\n") {
		t.Errorf("--plain opens with\n%s", out.String())
	}
}
