package tui

import (
	"context"
	"slices"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/internal/chattest"
)

// changing is a folder of notes in which the note that is open changes.
type changing struct {
	chattest.Library
	text *string
}

func (c changing) Note(context.Context, string, string) (chat.Note, error) {
	return chat.Note{Path: "car.md", Text: *c.text}, nil
}

func TestOpenNoteFollowsItsFile(t *testing.T) {
	text := "Tyres: 36 psi"
	o := chattest.WithWorld(chattest.Play(agent.Ended{}))
	o.Notes = changing{text: &text}
	inRig(t, 80, 24, o, func(r *rig) {
		r.ask("/open car")
		r.mustShow("36 psi")
		text = "Tyres: 37 psi"
		r.send(statusMsg(chat.Status{Notes: 1}))
		r.settle()
		r.mustShow("37 psi")
	})
}

func TestACommandCanBeATurn(t *testing.T) {
	withNote := func(assistant *chattest.Script) (chat.Options, *[]string) {
		var noted []string
		o := chattest.WithWorld(assistant)
		o.Commands = []chat.Command{{
			Name: "note", Args: "TEXT", Help: "notes it down",
			Turn: func(ctx context.Context, _, asked, args string) <-chan agent.Event {
				noted = append(noted, asked+"|"+args)
				return chattest.Play(agent.Said{Content: "added to daily/2026-11-21.md"}, agent.Ended{}).Ask(ctx, "", asked)
			},
		}}
		return o, &noted
	}
	t.Run("at once", func(t *testing.T) {
		o, noted := withNote(chattest.Hold())
		inRig(t, 80, 24, o, func(r *rig) {
			r.ask("/note buy milk")
			r.mustShow("▌ /note buy milk")
			r.mustShow("added to daily/2026-11-21.md")
			if want := []string{"/note buy milk|buy milk"}; !slices.Equal(*noted, want) {
				t.Errorf("noted %q, want %q", *noted, want)
			}
		})
	})
	t.Run("when the turn before is over, with the draft left alone", func(t *testing.T) {
		assistant := chattest.Play(agent.Said{Content: "Hello."}, agent.Ended{})
		o, noted := withNote(assistant)
		inRig(t, 80, 24, o, func(r *rig) {
			r.keys("hello", "enter", "/note buy milk", "enter", "a draft")
			r.pass(100 * time.Millisecond)
			r.mustShow("added to daily/2026-11-21.md")
			r.mustShow("▌ a draft")
			if len(*noted) != 1 {
				t.Errorf("noted %q", *noted)
			}
		})
	})
	t.Run("with a plan that has no answer to write", func(t *testing.T) {
		o := chattest.WithWorld(chattest.Play(
			agent.PlanMade{Steps: []agent.Step{{
				ID: "1", Tool: "append_note",
				Input: chattest.Raw(`{"content":"buy milk"}`),
			}}},
			agent.StepChanged{Step: "1", Status: agent.Running}, agent.StepChanged{Step: "1", Status: agent.Done},
			agent.Said{Content: "added to daily/2026-11-21.md"}, agent.Ended{},
		))
		inRig(t, 80, 24, o, func(r *rig) {
			r.ask("note it")
			r.mustShow("✓ append note")
			r.mustNotShow("skipped")
		})
	})
	t.Run("not without a text", func(t *testing.T) {
		o, noted := withNote(chattest.Hold())
		inRig(t, 80, 24, o, func(r *rig) {
			r.keys("/note", "enter", "enter")
			r.mustShow("usage: /note TEXT")
			if len(*noted) != 0 {
				t.Errorf("noted %q", *noted)
			}
		})
	})
}
