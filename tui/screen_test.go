package tui

import (
	"context"
	"fmt"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/internal/chattest"
	"lifehub/llm"
	"lifehub/tui/dialog"
)

// scene is a state of the screen worth a picture.
type scene struct {
	options func() chat.Options
	play    func(r *rig)
}

// asking asks the question that most pictures begin with.
func asking(more ...func(r *rig)) func(r *rig) {
	return func(r *rig) {
		r.ask("What's in my notes about running? Also search the web for marathon tips.")
		for _, step := range more {
			step(r)
		}
	}
}

func pressing(names ...string) func(r *rig) { return func(r *rig) { r.keys(names...) } }

func passing(d time.Duration) func(r *rig) { return func(r *rig) { r.pass(d) } }

func telling(bodies ...agent.Body) func() chat.Options {
	return func() chat.Options { return chattest.WithWorld(chattest.Hold(bodies...)) }
}

func finished() chat.Options {
	return chattest.WithWorld(chattest.Play(chattest.Story(chattest.Planning, chattest.Searched, chattest.Answered)...))
}

// notSaid is a turn whose search went by words, over a part of the notes, and
// found nothing that answers.
func notSaid() chat.Options {
	source := agent.Source{
		N: 1, Path: "fitness.md", Line: 12, EndLine: 14, Heading: "Running › Plan",
		Text: "Run three times a week.",
	}
	return chattest.WithWorld(chattest.Play(
		agent.PlanMade{Steps: []agent.Step{{ID: "1", Tool: "search_notes", Input: chattest.Raw(`{"query":"violin"}`)}}},
		agent.StepChanged{Step: "1", Status: agent.Running},
		agent.ToolStarted{Step: "1", Call: "a", Name: "search_notes", Input: chattest.Raw(`{"query":"violin"}`)},
		agent.ToolEnded{
			Step: "1", Call: "a", Name: "search_notes", Output: "1 passage", Took: 84,
			Sources: []agent.Source{source}, Coverage: &agent.Coverage{
				Indexed: 912, Total: 1284, Age: 7200,
				Embedder: "keyword search only: no embedder",
			},
		},
		agent.StepChanged{Step: "1", Status: agent.Done},
		agent.PhaseStarted{Agent: "explainer"},
		agent.Said{Content: "Your notes don't say. Nearest: `fitness.md:12 Running › Plan`."},
		agent.Ended{Answer: "Your notes don't say.", Unanswered: true, Nearest: []agent.Source{source}},
	))
}

// brokenOff is a turn whose model failed after the tools had worked: what they
// returned is listed.
func brokenOff() chat.Options {
	note := agent.Source{
		N: 1, Path: "fitness.md", Line: 12, EndLine: 14, Heading: "Running › Plan",
		Text: "Run three times a week.",
	}
	tips := agent.Source{
		N: 2, Path: "brave_web_search", Call: "2", Line: 1, EndLine: 1, Heading: "marathon tips",
		Text: "Marathon guide: drink early.", Untrusted: true,
	}
	cites := func(s agent.Source) agent.Cited {
		return agent.Cited{Citation: agent.Citation{
			N: s.N, Path: s.Path, Line: s.Line, EndLine: s.EndLine,
			Quote: s.Text, Verdict: agent.Cites, Sentence: s.Text,
		}, Source: s}
	}
	return chattest.WithWorld(chattest.Play(
		agent.PlanMade{
			Steps: []agent.Step{
				{ID: "1", Tool: "search_notes", Input: chattest.Raw(`{"query":"running"}`)},
				{ID: "2", Tool: "brave_web_search", Input: chattest.Raw(`{"query":"marathon tips"}`)},
			},
			Dropped: []string{
				`step 2: web_search is brave_web_search here`,
				`step 3: unknown tool "send_email": no mail server is set (mail.host and mail.from, see lifehub config)`,
			},
		},
		agent.StepChanged{Step: "1", Status: agent.Done},
		agent.StepChanged{Step: "2", Status: agent.Done},
		agent.PhaseStarted{Agent: "explainer"},
		agent.Said{Content: "You run"},
		agent.Said{Content: "\n\n(The answer breaks off here.)\n\nMarathon guide: drink early. [2]\n\nThe model " +
			"failed. Closest passages:\n\n**Running › Plan** · `fitness.md:12`\n> Run three times a week."},
		cites(tips), cites(note),
		agent.Failed{
			Message: "The answer was cut off before its end (unexpected EOF); what arrived is saved.",
			Hint:    "Ask again, or ask it to continue.", Effects: agent.Effects{},
		},
	))
}

var scenes = map[string]scene{
	"no questions yet": {func() chat.Options { return chattest.WithWorld(chattest.Play()) }, func(*rig) {}},
	"offline while indexing": {func() chat.Options {
		o := chattest.WithWorld(chattest.Play())
		status := make(chan chat.Status, 1)
		status <- chat.Status{Provider: "offline", Notes: 1284, Indexed: 312, Indexing: true}
		close(status)
		o.Status = status
		return o
	}, passing(time.Millisecond)},
	"the plan is being made": {telling(chattest.Planning[:2]...), asking()},
	"steps run":              {telling(chattest.Story(chattest.Planning, chattest.Searched)...), asking()},
	"the model thinks": {telling(agent.Thought{Content: "The user asks "},
		agent.Thought{Content: "about running."}), asking()},
	"the answer streams": {telling(chattest.Story(chattest.Planning, chattest.Searched,
		chattest.Answered[:5])...), asking()},
	"the answer is whole":         {finished, asking()},
	"the notes do not say":        {notSaid, asking()},
	"the transcript has the keys": {finished, asking(pressing("tab", "k"))},
	"a loop has ended": {
		func() chat.Options { return chattest.WithWorld(chattest.Play(rounds...)) },
		asking(),
	},
	"the turn was stopped": {telling(chattest.Story(chattest.Planning, chattest.Searched,
		chattest.Answered[:5])...), asking(pressing("esc"))},
	"earlier prompts are searched": {chattest.WithEverything, pressing("ctrl+r", "one")},
	"models, and no server":        {deafAndOffline, pressing("alt+m")},
	"what a version changed":       {withDocuments, asking(pressing("/artifacts asyncio", "enter", "enter"))},
	"a source is read":             {withNotes, asking(pressing("/sources", "enter", "enter", "tab"))},
	"a message waits in the queue": {
		telling(chattest.Planning...),
		asking(pressing("and swimming?", "enter", "and rowing?", "enter")),
	},
	"a message waits for the turn": {
		telling(chattest.Planning...),
		asking(pressing("and swimming?", "enter", "only this year", "ctrl+y", "and not")),
	},
	"the turn has taken a message": {func() chat.Options {
		script := chattest.Hold(chattest.Story(chattest.Planning, chattest.Searched)...)
		script.Takes = true
		return chattest.WithWorld(script)
	}, asking(pressing("Only this year, and leave out the web.", "ctrl+y"), passing(time.Second))},
	"a notice and an error": {func() chat.Options {
		return chattest.WithWorld(chattest.Play(agent.Noticed{Text: "Ollama is up: answers come from qwen3:8b now"},
			agent.Said{Content: "It begins"}, agent.Failed{
				Message: "model server not reachable",
				Hint:    "start it with: ollama serve",
			}))
	}, asking()},
	"the model fails on the way": {brokenOff, asking()},
	"resources after an at":      {chattest.WithLibrary, pressing("compare @demo")},
	"a question opens": {
		telling(chattest.Story(chattest.Planning, []agent.Body{chattest.TaskAsked})...),
		asking(),
	},
	"a question takes keys": {
		telling(chattest.Story(chattest.Planning, []agent.Body{chattest.TaskAsked})...),
		asking(passing(dialog.QuietPeriod)),
	},
	"a command is completed":         {chattest.WithEverything, pressing("/mo", "tab")},
	"commands by ctrl+p":             {chattest.WithEverything, pressing("ctrl+p", "down", "down")},
	"conversations":                  {chattest.WithEverything, pressing("ctrl+s")},
	"a conversation is opened again": {chattest.WithEverything, pressing("ctrl+s", "down", "enter")},
	"a found message is opened":      {chattest.WithEverything, pressing("ctrl+s", "fly", "enter")},
	"an alternative has the keys":    {chattest.WithEverything, pressing("ctrl+s", "down", "enter", "tab", "g")},
	"a question is changed": {
		chattest.WithEverything,
		pressing("ctrl+s", "down", "enter", "/edit 4", "enter"),
	},
	"a question was changed": {
		chattest.WithEverything,
		pressing("ctrl+s", "down", "enter", "/edit 3", "enter", " soon", "enter"),
	},
	"another model is used": {chattest.WithEverything, pressing("alt+m", "down", "enter")},
	"the page of a command": {chattest.WithEverything, pressing("/tools", "enter")},
	"no such command":       {chattest.WithEverything, pressing("/nonsense", "enter")},
	"a model is missing": {func() chat.Options {
		o := chattest.WithEverything()
		o.Assistant = chattest.Play(agent.FailedFrom(&llm.NotFoundError{Model: "qwen3:8b"}))
		return o
	}, asking()},
	"a model is pulled": {chattest.WithEverything, asking(pressing("/pull qwen3:8b", "enter"),
		passing(time.Second))},
	"first run": {chattest.Newcomer(chat.FoundModel{
		Ready:  true,
		Detail: "qwen3:8b answers, from Ollama on this machine.",
	}), passing(time.Millisecond)},
	"first run is over": {chattest.Newcomer(chattest.NoModel), pressing("down", "enter")},
	"an earlier prompt": {chattest.WithEverything, pressing("up", "up")},
	"once more quits":   {chattest.WithEverything, pressing("ctrl+c")},
	"scrolled away": {
		func() chat.Options { return chattest.WithWorld(chattest.Play(longAnswer()...)) },
		asking(pressing("pgup")),
	},
	"a cut turn is offered": {func() chat.Options { o, _ := withLeft(killed); return o }, passing(dialog.QuietPeriod)},
}

func longAnswer() []agent.Body {
	var bodies []agent.Body
	for i := range 60 {
		bodies = append(bodies, agent.Said{Content: fmt.Sprintf("Paragraph %d.\n\n", i)})
	}
	return append(bodies, agent.Ended{})
}

// deaf is a model server that does not answer.
type deaf struct{ chattest.Shelf }

func (deaf) List(context.Context) <-chan llm.Listing {
	return chattest.Told(llm.Listing{Server: "ollama", Err: fmt.Errorf("%w at 127.0.0.1:11434: connection refused",
		llm.ErrUnreachable)})
}

func deafAndOffline() chat.Options {
	o := chattest.WithEverything()
	status := make(chan chat.Status, 1)
	status <- chat.Status{Provider: "offline", Notes: 1284, Indexed: 1284}
	close(status)
	o.Models, o.Status = deaf{}, status
	return o
}

// withDocuments is a conversation in which a document was made and changed.
// oneNote is a note that has every name.
type oneNote struct {
	chattest.Library
	note chat.Note
}

func (n oneNote) Note(_ context.Context, name, _ string) (chat.Note, error) {
	n.note.File = name
	return n.note, nil
}

// withNotes is a turn that is over, and a note that each of its sources is from.
func withNotes() chat.Options {
	o := finished()
	o.Notes = oneNote{note: chat.Note{
		Path: "fitness.md", Text: "---\ntags: [running]\n---\n# Running\n\nSee [[log|the log]] of this year.\n\n## " +
			"Plan\n\n" +
			"The week is the same since autumn.\n\nRun **three times** a week.\n\n- Tuesday: intervals\n- Sunday: " +
			"the long run, `12 km`\n\n" +
			"```python\nweeks = [12, 13.2, 14.5, 12]\n```\n\n| week | km |\n|---|---|\n| 1 | 12 |\n",
	}}
	return o
}

func withDocuments() chat.Options {
	o := chattest.WithEverything()
	o.Assistant = chattest.Play(
		agent.ArtifactChanged{Name: "asyncio", Version: 2, By: "general", Why: "said plainer"},
		agent.Said{Content: "The document is made."}, agent.Ended{},
	)
	o.Artifacts = &chattest.Documents{
		Name: "asyncio", Why: "said plainer",
		Text: "# asyncio\n\n- prefer `TaskGroup`\n- timeouts\n",
	}
	return o
}

func TestGaugeShowsTheEstimateWithoutUsage(t *testing.T) {
	options := chattest.WithWorld(chattest.Play(agent.ContextCounted{Agent: "explainer", Used: 2100, Allocated: 16384},
		agent.Said{Content: "Yes."}, agent.Used{Agent: "explainer"}, agent.Ended{Answer: "Yes."}))
	inRig(t, 80, 30, options, func(r *rig) {
		r.ask("Do I run?")
		r.mustShow("ctx ■■□□□□□□ 2.1k of 16k")
	})
}

// The gauge falls only if the conversation was summarised or shortened, or the window is another.
func TestGaugeNeverFallsWhileTheChatGrows(t *testing.T) {
	counted := func(used, summary int) agent.ContextCounted {
		return agent.ContextCounted{
			Agent: "explainer", Used: used, Allocated: 16384,
			Parts: map[string]int{"summary": summary},
		}
	}
	worker := counted(9000, 0)
	worker.Step = "1"
	var p lastPrompt
	for at, step := range []struct {
		body agent.Body
		want int
	}{
		{counted(2000, 0), 2000},
		{agent.Used{Agent: "explainer", Prompt: 2100, Answer: 300}, 2400},
		{worker, 2400},
		{agent.Used{Step: "1", Prompt: 9000}, 2400},
		{counted(900, 0), 2400}, // it needs fewer sources
		{agent.Used{Agent: "explainer"}, 2400},
		{counted(12000, 0), 12000},
		{counted(4000, 500), 4000}, // older messages are summarised now
		{counted(3000, 0), 4000},   // the planner does not see the summary
		{counted(3000, 500), 4000},
		{agent.ContextCounted{Used: 1000, Allocated: 4096}, 1000}, // another model
	} {
		if p.Count(step.body); p.used != step.want {
			t.Errorf("step %d: %d tokens, want %d", at, p.used, step.want)
		}
	}
}
