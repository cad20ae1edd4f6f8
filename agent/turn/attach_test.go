package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/agent/prompt"
	"lifehub/llm"
	"lifehub/llm/llmtest"
)

// drawer holds texts by name.
type drawer map[string]string

func (d drawer) Find(message string) (names, unknown []string) {
	for _, word := range strings.Fields(message) {
		if name, ok := strings.CutPrefix(word, "@"); ok {
			if name == "nothing" || name == "talk" {
				unknown = append(unknown, name)
			} else {
				names = append(names, name)
			}
		}
	}
	return names, unknown
}

func (d drawer) Read(_ context.Context, name string) (agent.Result, error) {
	text, ok := d[name]
	if !ok {
		return agent.Result{}, errors.New("there is none")
	}
	return agent.Result{Text: text, Untrusted: true}, nil
}

func TestMentionedNotesAreAttached(t *testing.T) {
	a := talks(Options{Workers: workers, Attach: drawer{"s:a": "hello from a"}},
		func(context.Context) (agent.Result, error) { return agent.Result{Text: "talked"}, nil })
	var story []string
	for e := range a.Ask(t.Context(), "c", "what do @s:a and @s:b say?") {
		switch b := e.Body.(type) {
		case agent.ToolStarted:
			story = append(story, fmt.Sprint("start ", b.Name, " ", string(b.Input)))
		case agent.ToolEnded:
			story = append(story, strings.TrimSpace(fmt.Sprint("end ", b.Output, " ", b.Error)))
		}
	}
	want := []string{
		`start read_resource {"name":"s:a"}`, "end hello from a", `start read_resource {"name":"s:b"}`,
		"end  there is none", "start talk {}", "end talked",
	}
	if fmt.Sprint(story) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", story, want)
	}
	for _, request := range a.Model.(*llmtest.Script).Requests() {
		prompt := request.Messages[len(request.Messages)-1].Text
		if !strings.Contains(prompt, "hello from a") || !strings.Contains(prompt, "there is none") {
			t.Errorf("the model was told:\n%s", prompt)
		}
	}
}

// A tool cannot be attached, and an unknown name is reported.
func TestUnknownMentionIsReported(t *testing.T) {
	for message, want := range map[string]string{
		"what does @nothing say?": "@nothing",
		"@talk now":               "",
	} {
		a := talks(Options{Workers: workers, Attach: drawer{}},
			func(context.Context) (agent.Result, error) { return agent.Result{Text: "talked"}, nil })
		got := ""
		for e := range a.Ask(t.Context(), "c", message) {
			if n, ok := e.Body.(agent.Noticed); ok {
				got += n.Text
			}
		}
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}

// An attachment may be all that an answer needs, so every prompt that decides something
// includes it.
func TestAttachmentsReachEveryMode(t *testing.T) {
	for mode, lines := range map[agent.Mode][]line{
		agent.PlanMode: {say(searchStep), say(goodAnswer)},
		agent.LoopMode: {calling("search_notes", `{"query":"running"}`), say(goodAnswer)},
		agent.TeamMode: {
			oneTask, calling("search_notes", `{"query":"running"}`), say(notesFound),
			say(accepted), say(goodAnswer),
		},
	} {
		t.Run(string(mode), func(t *testing.T) {
			model := &script{lines: lines}
			end := ended(t, collect(New(Options{
				Workers: workers, Model: model, History: &shelf{},
				Tools: tools(search()), Attach: drawer{"s:a": "hello from a"}, Session: inMode(mode),
			}).
				Ask(t.Context(), "c1", "what does @s:a say of running?"), nil))
			if end.Answer != goodAnswer || len(end.Sources) != 2 || end.Sources[0].Path != "s:a" ||
				end.Sources[1].Path != fitness.Path {
				t.Errorf("the end is %+v", end)
			}
			for i, request := range model.requests {
				if !strings.Contains(fmt.Sprint(request.Messages), "hello from a") {
					t.Errorf("request %d lacks it: %+v", i+1, request.Messages)
				}
			}
		})
	}
}

// shows is a drawer of images.
type shows struct{ drawer }

func (s shows) Read(context.Context, string) (agent.Result, error) {
	return agent.Result{Text: "a picture", Images: [][]byte{[]byte("attached")}}, nil
}

func TestTheLoopSeesImages(t *testing.T) {
	chart := &fakeTool{name: "draw_chart", result: agent.Result{Text: "drawn", Images: [][]byte{[]byte("drawn")}}}
	seen := func(request llm.Request) (images []string) {
		for _, m := range request.Messages {
			for _, image := range m.Images {
				images = append(images, string(image))
			}
		}
		return images
	}
	t.Run("a model that can see", func(t *testing.T) {
		model := &script{lines: []line{calling("draw_chart", `{"query":"km"}`), say("It rises.")}}
		ended(t, collect(New(Options{
			Workers: workers, Model: model, History: &shelf{}, Tools: tools(chart),
			Attach: shows{}, Session: inMode(agent.LoopMode),
		}).Ask(t.Context(), "c1", "draw @it"), nil))
		if got := fmt.Sprint(seen(model.requests[0]), seen(model.requests[1])); got != "[attached] [attached drawn]" {
			t.Errorf("it saw %s", got)
		}
	})
	t.Run("one that cannot is told", func(t *testing.T) {
		model := &script{lines: []line{
			calling("draw_chart", `{"query":"km"}`),
			{err: &llm.UnsupportedError{Model: "tiny", Capability: "images"}},
			say("It is drawn; I cannot see it."),
		}}
		events := collect(New(Options{
			Workers: workers, Model: model, History: &shelf{}, Tools: tools(chart),
			Session: inMode(agent.LoopMode),
		}).Ask(t.Context(), "c1", "draw it"), nil)
		if end := ended(t, events); end.Answer != "It is drawn; I cannot see it." ||
			len(bodies[agent.Noticed](events)) != 1 {
			t.Errorf("the end is %+v", end)
		}
		if last := model.requests[2]; len(seen(last)) > 0 ||
			!strings.Contains(fmt.Sprint(last.Messages), prompt.CannotSee) {
			t.Errorf("the last request is %+v", last.Messages)
		}
	})
}

// A prompt that may answer from an attached image has to include it, or a plan that
// answers, or the lead of a team, would invent its content.
func TestEveryDecidingPromptHasTheImage(t *testing.T) {
	blind := line{err: &llm.UnsupportedError{Model: "tiny", Capability: "images"}}
	for name, tc := range map[string]struct {
		mode  agent.Mode
		lines []line
	}{
		"a plan": {agent.PlanMode, []line{say(`{"steps":[],"answer":"A cat."}`)}},
		"a lead": {agent.TeamMode, []line{say("A cat.")}},
		"a team": {agent.TeamMode, []line{oneTask, say("A cat."), say(accepted)}},
	} {
		for _, sees := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, seen: %v", name, sees), func(t *testing.T) {
				model := &script{lines: tc.lines}
				if !sees {
					model.lines = append([]line{blind}, tc.lines...)
				}
				events := collect(New(Options{
					Workers: workers, Model: model, History: &shelf{}, Tools: tools(search()),
					Attach: shows{drawer{"it": ""}}, Session: inMode(tc.mode),
				}).Ask(t.Context(),
					"c1", "what is on @it"), nil)
				if end := ended(t, events); end.Answer != "A cat." {
					t.Errorf("the end is %+v", end)
				}
				if notices := len(bodies[agent.Noticed](events)); (notices == 1) == sees || notices > 1 {
					t.Errorf("the user is told %d times", notices)
				}
				for i, request := range model.requests {
					held := slices.ContainsFunc(request.Messages, func(m llm.Message) bool { return len(m.Images) > 0 })
					judges := strings.HasPrefix(request.Messages[0].Text, "You judge")
					if held != (sees || i == 0) && !judges {
						t.Errorf("request %d holds the picture: %v", i+1, held)
					}
					if !sees && i > 0 && !judges && !strings.Contains(fmt.Sprint(request.Messages), prompt.CannotSee) {
						t.Errorf("request %d does not say that it cannot be seen", i+1)
					}
				}
			})
		}
	}
}

// leftTool is a tool that works on documents of earlier turns.
type leftTool struct {
	*fakeTool
	kept []string
	from agent.Origin
}

func (k leftTool) Properties() agent.Properties {
	of := k.fakeTool.Properties()
	of.LoopOnly = true
	return of
}

func (k leftTool) Carried(context.Context) ([]string, agent.Origin, error) {
	return k.kept, k.from, nil
}

// The loop knows the documents of the conversation, and is always offered the tools
// that change them.
func TestLoopKnowsTheConversationsDocuments(t *testing.T) {
	kit := []agent.Tool{search()}
	for i := range 30 {
		kit = append(kit, &fakeTool{name: fmt.Sprintf("shorter_%d", i)})
	}
	for name, tc := range map[string]struct {
		kept      []string
		untrusted bool
	}{
		"none": {}, "one": {kept: []string{"week of rest, version 2"}},
		"of untrusted text": {kept: []string{"week of rest, version 2"}, untrusted: true},
	} {
		t.Run(name, func(t *testing.T) {
			model, shelf := &script{lines: []line{say("It is shorter now.")}}, &shelf{}
			o := Options{Workers: workers, Model: model, History: shelf, Session: inMode(agent.LoopMode)}
			var from agent.Origin
			if tc.untrusted {
				from = agent.FromOutside("a page")
			}
			all := append(slices.Clone(kit), leftTool{&fakeTool{name: "read_artifact"}, tc.kept, from})
			o.Tools = tools(all...)
			a := New(o)
			ended(t, collect(a.Ask(t.Context(), "c1", "make it shorter"), nil))
			asked := model.requests[0]
			has := func(name string) bool {
				return slices.ContainsFunc(asked.Tools, func(s llm.ToolSpec) bool { return s.Name == name })
			}
			if !has(agent.DelegateTool) || !has("read_artifact") || len(asked.Tools) != len(all)+1 {
				t.Errorf("offered %d tools, delegate %v, read_artifact %v", len(asked.Tools),
					has(agent.DelegateTool), has("read_artifact"))
			}
			if last := asked.Messages[len(asked.Messages)-1].Text; strings.Contains(last,
				"week of rest, version 2") != (tc.kept != nil) {
				t.Errorf("the loop is asked\n%s", last)
			}
			if got := shelf.last().Origin.IsOutside(); got != tc.untrusted {
				t.Errorf("the answer is untrusted: %v", got)
			}
		})
	}
}

// A model may know a tool from an earlier turn that is not offered in this one.
func TestToolThatWasNotOfferedCanBeCalled(t *testing.T) {
	kit := []agent.Tool{search(), &fakeTool{
		name: "zebra", by: "the MCP server zoo",
		result: agent.Result{Text: "stripes"},
	}}
	for i := range 99 {
		kit = append(kit, &fakeTool{name: fmt.Sprintf("task_%d", i), by: "the MCP server zoo"})
	}
	for mode, lines := range map[agent.Mode][]line{
		agent.LoopMode: {calling("zebra", `{"query":"x"}`), say("Done.")},
		agent.PlanMode: {say(`{"steps":[{"id":"1","tool":"zebra","input":{"query":"x"}}]}`), say("Done.")},
	} {
		end := ended(t, collect(New(Options{
			Workers: workers, Model: &script{lines: lines}, History: &shelf{},
			Tools: tools(kit...), Session: inMode(mode),
		}).Ask(t.Context(), "c1", "my task"), nil))
		if end.ToolCalls != 1 || end.Answer != "Done." {
			t.Errorf("%s: the end is %+v", mode, end)
		}
	}
}
