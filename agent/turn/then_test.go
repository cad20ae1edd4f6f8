package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/llm"
)

// diary is a tool that writes, and can find out later whether it did.
type diary struct{ *fakeTool }

func newDiary() diary {
	return diary{&fakeTool{
		name: agent.AppendNote, level: agent.Confirm, result: agent.Result{Text: "added"}, bounds: []string{"path"},
		schema: `{"type":"object","properties":{"content":{"type":"string"}},"required":["content"]}`,
	}}
}

func (d diary) Mark(context.Context, json.RawMessage) (json.RawMessage, error) {
	return json.Marshal(len(d.ran()))
}

func (d diary) Check(_ context.Context, mark json.RawMessage) (agent.Happened, []agent.Effect, error) {
	if string(mark) == fmt.Sprint(len(d.ran())) {
		return agent.HasNotHappened, nil, nil
	}
	return agent.HasHappened, []agent.Effect{{
		Kind: agent.NoteChanged, Path: "daily.md",
		Lines: &agent.Lines{Added: 1},
	}}, nil
}

func intoDiary(a agent.Answer) agent.Step {
	input, _ := json.Marshal(map[string]string{"content": fmt.Sprint(a.Text, " ", len(a.Citations))})
	return agent.Step{Tool: agent.AppendNote, Input: input}
}

func writing(o Options) *Agent {
	a := New(o)
	a.Then = intoDiary
	return a
}

var allowed = new(gate.Rules).With(gate.For(agent.AppendNote, agent.Auto))

// Interrupted at any moment and resumed, the action after an answer runs once, and an
// existing answer is not requested again.
func TestFollowUpActionRunsOnce(t *testing.T) {
	const answer = "You run three times a week [1]."
	moments := strings.Fields("planned intended decided started ended planned intended decided started ended")
	for _, mode := range []agent.Mode{agent.PlanMode, agent.LoopMode} {
		for cut := 1; cut <= len(moments); cut++ {
			t.Run(fmt.Sprintf("%s, %d %s", mode, cut, moments[cut-1]), func(t *testing.T) {
				note := newDiary()
				first, message := []line{say(searchStep)}, errand
				if mode == agent.LoopMode { // the notes are searched first
					first, message = nil, question
				}
				o := Options{
					Tools: tools(reader{search()}, note), Rules: allowed, Session: inMode(mode),
					History: &shelf{}, Now: fixedNow,
				}
				o.Model = &script{lines: append(first, say(answer))}
				ctx, kill := contextWithCancel(t)
				kept := &ledger{question: message, cutAfter: cut, kill: kill}
				o.Journal = kept
				collect(writing(o).Ask(ctx, "c1", message), nil)
				if got := strings.Fields(kept.moments()); cut < len(moments) && len(got) != cut {
					t.Fatalf("the journal holds %v", got)
				}

				lines := []line{say(answer)}
				model := &script{lines: lines}
				o.Model, o.History = model, &shelf{}
				a := writing(o)
				if cut > 5 { // the resuming chat makes no such calls
					a.Then = nil
				}
				kept.cutAfter = 0
				end := ended(t, collect(a.Resume(t.Context(), "c1", "t1"), nil))
				if ran := note.ran(); len(ran) != 1 || ran[0] != `{"content":"`+answer+` 1"}` {
					t.Errorf("it was written %q", ran)
				}
				if end.Answer != answer || len(end.Sources) != 1 || len(end.Unasked) > 0 {
					t.Errorf("the end is %+v", end)
				}
				if asked := len(model.requests); (asked == 0) != (cut > 5) {
					t.Errorf("the model was asked %d times", asked)
				}
				if saved := o.History.(*shelf).answers; len(saved) != 1 || len(saved[0].Citations) != 1 ||
					saved[0].Citations[0].Path != fitness.Path {
					t.Errorf("saved %+v", saved)
				}
			})
		}
	}
}

// An answer is not written if it is incomplete, lacks a call that it needed, or if a
// rule denies it.
func TestOnlyACompleteAnswerIsFollowedUp(t *testing.T) {
	for name, tc := range map[string]struct {
		lines []line
		found *fakeTool
		rules *gate.Rules
		want  string
	}{
		"the model fails":        {[]line{say(searchStep), {err: llm.ErrUnreachable}}, search(), allowed, ""},
		"it fails in the middle": {[]line{say(searchStep), {text: "You run", err: llm.ErrCut}}, search(), allowed, ""},
		"it is too long": {
			[]line{say(searchStep), {text: "You run", stopped: llm.StopLength}},
			search(),
			allowed, "length limit",
		},
		"a call was refused": {[]line{say(taskStep), say("I could not.")}, addTask(), allowed, "was refused"},
		"no rule":            {[]line{say(searchStep), say(goodAnswer)}, search(), nil, "nobody can"},
		"untrusted text": {[]line{say(`{"reasoning":"","steps":[{"id":"1","tool":"brave_web_search",` +
			`"input":{"query":"running"}}]}`), say("Drink early.")}, web(), allowed, "nobody can"},
		"a rule forbids it": {
			[]line{say(searchStep), say(goodAnswer)},
			search(),
			new(gate.Rules).With(gate.For(agent.AppendNote, agent.Deny)), "forbidden",
		},
	} {
		t.Run(name, func(t *testing.T) {
			note := newDiary()
			events := collect(writing(Options{
				Model: &script{lines: tc.lines}, Tools: tools(tc.found, note), Rules: tc.rules, History: &shelf{},
				Journal: &ledger{}, Unattended: true,
			}).Ask(t.Context(), "c1", question), always(agent.AllowOnce))
			failed, ok := events[len(events)-1].Body.(agent.Failed)
			if len(note.ran()) > 0 || !ok || !strings.Contains(failed.Message, tc.want) ||
				tc.want != "" && !strings.Contains(failed.Message, ErrNotDone.Error()[1:]) {
				t.Errorf("written %q, the end is %+v", note.ran(), events[len(events)-1].Body)
			}
		})
	}
}

// A message may limit the tools for its answer. Other tools are neither described nor
// run, also when the turn is resumed.
func TestMessageLimitsTheTools(t *testing.T) {
	message := agent.Message{Text: question, Tools: []string{"search_notes"}}.String()
	for mode, first := range map[agent.Mode]line{
		agent.PlanMode: say(searchAndTask),
		agent.LoopMode: calling("search_notes", `{"query":"running"}`, "add_task", `{"text":"buy shoes"}`),
	} {
		for _, resumed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, resumed: %t", mode, resumed), func(t *testing.T) {
				found, task := search(), addTask()
				model := &script{lines: []line{first, first, say(goodAnswer), say(goodAnswer)}}
				a := New(Options{
					Model: model, Tools: tools(reader{found}, task, web()), History: &shelf{},
					Journal: &ledger{question: message}, Session: inMode(mode),
				})
				var events []agent.Event
				if resumed {
					events = collect(a.Resume(t.Context(), "c1", "t1"), always(agent.AllowOnce))
				} else {
					events = collect(a.Ask(t.Context(), "c1", message), always(agent.AllowOnce))
				}
				ended(t, events)
				if len(found.ran()) == 0 || len(task.ran()) > 0 {
					t.Errorf("searched %q, added %q", found.ran(), task.ran())
				}
				for _, request := range model.requests {
					if asked := fmt.Sprint(request.Messages, request.Tools); strings.Contains(asked, "does add_task") ||
						strings.Contains(asked, "brave_web_search") || strings.Contains(asked, "only these tools") {
						t.Errorf("the model is told %s", asked)
					}
				}
			})
		}
	}
}
