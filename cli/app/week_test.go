package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
)

// week is ordinary use: questions on notes, two clipped pages, tasks, an MCP server that
// may read and one that may not, web searches, some next to notes. "new" begins a chat.
var week = []struct {
	message string
	calls   [][2]string
}{
	{"new", nil},
	{"What did I write about the boiler?", [][2]string{
		callOf("search_notes", "query", "boiler"),
		callOf("read_note", "path", "diary.md"),
	}},
	{"And about the plumber?", [][2]string{callOf("search_notes", "query", "plumber")}},
	{"Which tasks are open?", [][2]string{callOf("list_tasks")}},
	{"new", nil},
	{"Add a task: call the plumber", [][2]string{callOf("add_task", "text", "call the plumber")}},
	{"Add a task: buy a filter", [][2]string{callOf("add_task", "text", "buy a filter")}},
	{"I called the plumber.", [][2]string{callOf("complete_task", "task", "call the plumber")}},
	{"new", nil},
	{"Clip https://hens.example/fence", [][2]string{
		callOf("web_fetch", "url", "https://hens.example/fence"),
		callOf("create_note", "path", "clips/fence.md", "content",
			"---\nsource: https://hens.example/fence\n---\n\nHens need a fence.\n"),
	}},
	{"new", nil},
	{"Clip https://bread.example/rye", [][2]string{
		callOf("web_fetch", "url", "https://bread.example/rye"),
		callOf("create_note", "path", "clips/rye.md", "content",
			"---\nsource: https://bread.example/rye\n---\n\nRye needs a day.\n"),
	}},
	{"new", nil},
	{"How long does rye need?", [][2]string{
		callOf("search_notes", "query", "rye"),
		callOf("read_note", "path", "clips/rye.md"),
	}},
	{"new", nil},
	{"Search the web for marathon training tips", [][2]string{
		callOf("web_search", "query", "marathon training tips"),
		callOf("web_fetch", "url", "https://run.example/tips"),
	}},
	{"And for running shoes?", [][2]string{callOf("web_search", "query", "best running shoes for a marathon")}},
	{"new", nil},
	{
		"What does my plan say about shoes, and what does the web say about running shoes?",
		[][2]string{
			callOf("search_notes", "query", "shoes"), callOf("web_search", "query", "running shoes"),
			callOf("web_fetch", "url", "https://run.example/shoes"),
		},
	},
	{"Open the other one too.", [][2]string{
		callOf("web_search", "query", "shoes"),
		callOf("web_fetch", "url", "https://run.example/tips"),
	}},
	{"Which are good for my knee?", [][2]string{callOf("web_search", "query", "running shoes runner's knee")}},
	{"new", nil},
	{"What is in my documents about the boiler?", [][2]string{
		callOf("search_notes", "query", "boiler"),
		callOf("files_get", "query", "boiler"), callOf("files_get", "query", "boiler/manual.txt"),
	}},
	{"new", nil},
	{"Look up the ticket in the tracker", [][2]string{callOf("other_get", "query", "ticket")}},
	{"And in my notes?", [][2]string{
		callOf("search_notes", "query", "ticket"),
		callOf("other_get", "query", "LIFE-12"),
	}},
	{"new", nil},
	{"What will the weather be in Graz?", [][2]string{
		callOf("search_notes", "query", "Graz"),
		callOf("get_weather", "place", "Graz"),
	}},
	{"Remember that I live in Graz", [][2]string{callOf("remember", "text", "I live in Graz")}},
}

// Questions are rare in ordinary use, and only about what changes or leaves.
func TestAWeekAsksLittle(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	l := newLaundry(t)
	defer func() { l.Close() }()
	apptest.Write(t, filepath.Join(l.vault, "plan.md"), "# Plan\n\nNew shoes in spring. The boiler needs a filter.\n")
	l.Rules = nil
	l.Builtin = slices.DeleteFunc(slices.Clone(l.Builtin), func(t agent.Tool) bool {
		return slices.Contains([]string{"web_search", "web_fetch", "get_weather"}, t.Spec().Name)
	})
	l.Builtin = append(l.Builtin, finder{sender{name: "web_search"}}, pages{}, sender{name: "get_weather"},
		sender{name: "other_get", level: agent.Confirm, server: "other"},
		sender{name: "files_get", level: agent.Confirm, server: "files", reads: true})
	var asked []string
	assistant := l.Agent()
	for _, turn := range week {
		if turn.message == "new" {
			l.conversation = l.Store.NewConversation()
			continue
		}
		l.model.calls, l.model.answer = slices.Clone(turn.calls), "Well."
		for e := range assistant.Ask(t.Context(), l.conversation, turn.message) {
			if q, ok := e.Body.(agent.PermissionAsked); ok {
				asked = append(asked, fmt.Sprintf("%s: %s %s", turn.message, q.Name, q.Input))
				reply := agent.AllowOnce
				if allowsInChat(q) {
					reply = agent.AllowConversation
				}
				q.Reply(agent.Reply{Decision: reply})
			}
		}
	}
	want := []string{
		`Add a task: call the plumber: add_task {"text":"call the plumber"}`,
		`I called the plumber.: complete_task {"task":"call the plumber"}`,
		`Clip https://hens.example/fence: create_note {"content":"---\nsource: ` +
			`https://hens.example/fence\n---\n\nHens need a fence.\n","path":"clips/fence.md"}`,
		`Clip https://bread.example/rye: create_note {"content":"---\nsource: https://bread.example/rye\n---\n\nRye ` +
			`needs a day.\n","path":"clips/rye.md"}`,
		// and no further one
		`What does my plan say about shoes, and what does the web say about running shoes?: web_fetch ` +
			`{"url":"https://run.example/shoes"}`,
		// words of the model's own
		`Which are good for my knee?: web_search {"query":"running shoes runner's knee"}`,
		`Look up the ticket in the tracker: other_get {"query":"ticket"}`,
		`And in my notes?: other_get {"query":"LIFE-12"}`,
		`Remember that I live in Graz: remember {"text":"I live in Graz"}`,
	}
	if got, want := strings.Join(asked, "\n"), strings.Join(want, "\n"); got != want {
		t.Errorf("%d questions:\n%s\nwant\n%s", len(asked), got, want)
	}
}

func allowsInChat(q agent.PermissionAsked) bool { return q.Rule != "" || q.Destination != "" }

// finder is a web search that finds two pages.
type finder struct{ sender }

func (finder) Run(context.Context, json.RawMessage) (agent.Result, error) {
	result := agent.Result{Text: "two pages", Untrusted: true}
	for _, path := range []string{"https://run.example/shoes", "https://run.example/tips"} {
		result.Sources = append(result.Sources, agent.Source{Path: path, Text: "Shoes and tips.", Untrusted: true})
	}
	return result, nil
}
