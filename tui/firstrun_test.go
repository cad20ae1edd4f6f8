package tui

import (
	"errors"
	"slices"
	"testing"
	"time"

	"lifehub/chat"
	"lifehub/internal/chattest"
)

func TestFirstRunTakesNotesAndThenAsks(t *testing.T) {
	notes := &chattest.Folders{Found: chattest.NoModel}
	assistant := chattest.Hold()
	o := chattest.Newcomer(chattest.NoModel)()
	o.Assistant, o.Setup, o.Prompt = assistant, notes, "what is in here?"
	inRig(t, 80, 24, o, func(r *rig) {
		r.mustShow("Which notes")
		if len(assistant.Asked) != 0 {
			t.Error("it asked before the notes were chosen")
		}
		r.keys("down", "enter")
		r.pass(100 * time.Millisecond)
		if len(notes.Took) != 1 || notes.Took[0].Name != "Starter notes" {
			t.Errorf("took %+v", notes.Took)
		}
		if !slices.Equal(assistant.Asked, []string{"what is in here?"}) {
			t.Errorf("asked = %q", assistant.Asked)
		}
	})
}

func TestFirstRunOffersAQuestionToBeginWith(t *testing.T) {
	assistant := chattest.Hold()
	o := chattest.Newcomer(chattest.NoModel)()
	o.Assistant = assistant
	inRig(t, 80, 24, o, func(r *rig) {
		r.keys("down", "enter")
		question := chattest.World.Questions[0]
		r.mustShow("▌ " + question)
		r.mustShow("▌ " + question)
		r.keys("w")
		r.mustShow("▌ w\n") // what is written takes its place
		r.keys("backspace")
		r.mustShow("ctrl+p commands")
		r.keys("enter")
		r.mustShow("enter queues it")
		if !slices.Equal(assistant.Asked, []string{question}) {
			t.Errorf("asked = %q", assistant.Asked)
		}
	})
}

func TestFirstRunTakesAFolderThatIsTyped(t *testing.T) {
	notes := &chattest.Folders{Found: chattest.NoModel}
	o := chattest.Newcomer(chattest.NoModel)()
	o.Setup = notes
	inRig(t, 80, 24, o, func(r *rig) {
		r.keys("~/nowhere")
		r.mustShow("✗ no such folder")
		r.keys("enter")
		r.mustShow("✗ there is no folder ~/nowhere")
		r.keys("ctrl+u", "~/N", "tab")
		r.mustShow("~/Notizen▏") // what both have in common
		r.mustNotShow("✗")
		r.keys("ctrl+u", "~/W", "tab", "enter")
		if len(notes.Took) != 1 || notes.Took[0].Path != "~/Wissen/" {
			t.Errorf("took %+v", notes.Took)
		}
		r.mustShow("Wissen added")
	})
}

func TestFirstRunSeesAModelThatComesUp(t *testing.T) {
	setup := &chattest.Folders{Found: chattest.NoModel}
	o := chattest.Newcomer(chattest.NoModel)()
	o.Setup = setup
	inRig(t, 100, 24, o, func(r *rig) {
		r.mustShow("No model")
		setup.Found = chat.FoundModel{Ready: true, Detail: "qwen3:8b answers."}
		r.send(statusMsg(chattest.World))
		r.settle()
		r.mustShow("✓ qwen3:8b answers.")
	})
}

func TestFirstRunPullsAModelAndShowsErrors(t *testing.T) {
	o := chattest.Newcomer(chat.FoundModel{Detail: "Ollama has no model.", Pull: "qwen3:4b", Why: "fits"})()
	inRig(t, 80, 24, o, func(r *rig) {
		r.mustShow("▌ Obsidian vault") // nothing is fetched by an enter too many
		r.keys("up", "enter")
		r.mustShow("pulling qwen3:4b")
		r.keys("esc")
		r.pass(10 * time.Millisecond)
		r.mustNotShow("pulling qwen3:4b  ")
		r.mustShow("Which notes") // esc stopped the pull only
		server := slowServer{end: make(chan error, 1)}
		server.end <- errors.New("pull qwen3:4b: no network")
		r.m.Options.Models = server
		r.keys("enter")
		r.mustShow("✗ pull qwen3:4b: no network")
		r.keys("esc")
		r.mustShow("▌ Ask")
	})
}
