package panel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/internal/chattest"
	"lifehub/llm"
	"lifehub/tui"
	"lifehub/tui/boxtest"
	"lifehub/tui/dialog"
	"lifehub/tui/draw"
	"lifehub/tui/panel"
	"lifehub/tui/transcript"
)

// box is a panel whose keys and commands are played by hand.
type box struct {
	t     *testing.T
	keys  draw.Keys
	width int
	shown panel.Panel
	setup chat.Setup // of the first run
	asks  string     // what it asked of the screen last
}

const height = 24 // what a panel has of a window of 30 rows or so

func (b *box) run(cmd tea.Cmd) {
	if cmd != nil {
		b.take(cmd())
	}
}

// take gives a message to the panel, or opens another one, as the screen does.
func (b *box) take(msg tea.Msg) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case nil:
		return
	case tea.BatchMsg:
		for _, cmd := range msg {
			b.run(cmd)
		}
		return
	case dialog.CopyMsg:
		b.asks = fmt.Sprintf("%#v", msg)
		return
	case panel.OpenMsg:
		if msg.Err != nil || msg.Panel == nil {
			b.t.Fatalf("nothing was opened: %s, %v", msg.Reason, msg.Err)
		}
		b.shown, cmd = msg.Panel, msg.Then
	default:
		var did tea.Msg
		b.shown, did, cmd = b.shown.Update(msg, &b.keys)
		switch did := did.(type) {
		case nil:
		case panel.ReadNote, panel.Figures, panel.LookAt, panel.TakeNotes:
			options := &chat.Options{Statistics: chattest.Figures{}, Setup: b.setup}
			cmd = did.(panel.Request).Do(context.Background(), options)
		default:
			b.asks = fmt.Sprintf("%#v", did)
		}
	}
	if b.shown != nil { // it is drawn after every message
		b.draw(b.width, height, draw.NewTheme("", true, true, nil))
	}
	b.run(cmd)
}

// draw draws the panel in its frame, over a body with nothing in it.
func (b *box) draw(width, height int, theme *draw.Theme) []string {
	return (&panel.Frame{}).Over(b.shown, make([]string, height), width, &b.keys, theme)
}

func (b *box) press(names ...string) {
	for _, name := range names {
		for _, pressed := range boxtest.Presses(name) {
			b.take(pressed)
		}
	}
}

// opened is the story of a panel that a command opens, in which keys are pressed.
func opened(cmd func() tea.Cmd, names ...string) func(b *box) {
	return func(b *box) {
		b.run(cmd())
		b.press(names...)
	}
}

// showing is the same for one that needs no command.
func showing(shown func() panel.Panel, names ...string) func(b *box) {
	return opened(func() tea.Cmd {
		return func() tea.Msg { return panel.OpenMsg{Panel: shown()} }
	}, names...)
}

// TestPanel keeps one golden a panel in its frame; below it what it asked of the
// screen.
func TestPanel(t *testing.T) {
	stories := map[string]func(t *testing.T, width int) boxtest.Box{}
	for name, play := range plays {
		stories[name] = func(t *testing.T, width int) boxtest.Box {
			b := &box{t: t, keys: draw.DefaultKeys(), width: width}
			b.keys.LeaveOut(false, false, false)
			play(b)
			return boxtest.Box{
				Height: height, Fills: true,
				Draw:  b.draw,
				Below: b.asks,
			}
		}
	}
	boxtest.Boxes(t, stories)
}

var plays = map[string]func(b *box){
	"documents of a conversation": opened(documents("c1", "")),
	"versions of a document":      opened(documents("c1", "asyncio")),
	"no documents yet":            opened(documents("", "")),

	"a note":                    note("running/plan.md", 0),
	"a note at a cited line":    note("running/plan.md", 40),
	"a link of a note":          note("running/plan.md", 0, "tab", "tab", "shift+tab"),
	"the end of a note":         note("running/plan.md", 0, "end"),
	"a link is followed":        note("running/plan.md", 0, "tab", "enter"),
	"back from a link":          note("running/plan.md", 0, "down", "down", "tab", "enter", "backspace"),
	"an address is copied":      note("running/plan.md", 0, "tab", "tab", "enter"),
	"a link that leads nowhere": note("running/plan.md", 0, "tab", "tab", "tab", "enter"),
	"a note is opened to edit":  note("running/plan.md", 40, "e"),

	"the MCP servers":         showing(servers(chattest.ThreeServers())),
	"log of a server":         showing(servers(chattest.ThreeServers()), "l"),
	"no server is configured": showing(servers(&chattest.Shop{})),
	"change of a server is looked at": func(b *box) {
		showing(servers(chattest.ThreeServers()), "t")(b)
		time.Sleep(dialog.QuietPeriod)
	},

	"help":                  showing(help),
	"the end of help":       showing(help, "ctrl+end"),
	"help is searched":      showing(help, "model"),
	"help has none of that": showing(help, "zebra"),

	"conversations":              opened(conversations(chattest.WithEverything())),
	"conversations are filtered": opened(conversations(chattest.WithEverything()), "lis"),
	"messages are found":         opened(conversations(chattest.WithEverything()), "fly"),
	"no conversations yet":       opened(conversations(unused())),
	"a conversation is renamed":  opened(conversations(chattest.WithEverything()), "ctrl+r", "backspace", "x"),
	"a conversation is marked":   opened(conversations(chattest.WithEverything()), "ctrl+x"),
	"what fills the window": showing(func() panel.Panel {
		c := &panel.Context{}
		for _, body := range chattest.Windowed {
			c.Count(body)
		}
		return c
	}),
	"the tree": opened(func() tea.Cmd { return panel.OpenTree(context.Background(), chattest.Kept{}, "c1") }),

	"models":           opened(models),
	"no model matches": opened(models, "zzz"),
	"models of several servers": opened(func() tea.Cmd {
		return panel.OpenModels(context.Background(), several{}, chat.Status{Model: "work/gpt-oss-120b"}, nil)
	}),
	"a model of several servers": opened(func() tea.Cmd {
		return panel.OpenModels(context.Background(), several{}, chat.Status{Model: "work/gpt-oss-120b"}, nil)
	}, "o", "s", "s"),
	"themes": showing(func() panel.Panel { return panel.NewThemes("light", nil) }),

	"figures by day":   figures(chattest.WithFigures(), ""),
	"figures by model": figures(chattest.WithFigures(), "", "tab", "down"),
	"figures of turns": figures(chattest.WithFigures(), "turn", "G"),
	"no figures yet":   figures(chat.Options{Statistics: none{}}, ""),

	"first run": firstRun(chat.FoundModel{
		Ready:  true,
		Detail: "qwen3:8b answers, from Ollama on this machine.",
	}),
	"first run without a model":     firstRun(chattest.NoModel),
	"first run in a folder unknown": firstRun(chattest.NoModel, "~/nowhere", "enter"),
	"first run fetches a model": firstRun(chat.FoundModel{Detail: "Ollama runs here and has no model yet; until " +
		"then LifeHub lists the closest passages.", Pull: "qwen3:4b", Why: "a model that fits this machine"}, "up",
		"enter"),
	"first run looks around": func(b *box) { b.shown = &panel.FirstRun{} }, // nothing was found so far
}

func documents(conversation, name string) func() tea.Cmd {
	made := &chattest.Documents{
		Name: "asyncio", Why: "said plainer",
		Text: "# asyncio\n\n- prefer `TaskGroup`\n- timeouts\n",
	}
	return func() tea.Cmd { return panel.OpenArtifacts(context.Background(), made, conversation, name) }
}

func servers(from chat.Servers) func() panel.Panel {
	return func() panel.Panel { return panel.NewServers(from) }
}

func help() panel.Panel {
	o := chattest.WithEverything()
	return &panel.Help{Commands: panel.Commands(&o)}
}

func conversations(o chat.Options) func() tea.Cmd {
	return func() tea.Cmd { return tui.List(context.Background(), &o, "", "") }
}

// unused has kept no conversation.
func unused() chat.Options {
	o := chattest.WithEverything()
	o.Conversations = none{}
	return o
}

type none struct{ chattest.Kept }

func (none) Recent(context.Context, int) ([]agent.Conversation, error) { return nil, nil }

func (none) Figures(context.Context, string) ([]agent.Figures, error) { return nil, nil }

// several are model servers of which some answer late, one says why it has none,
// and one has not answered yet.
type several struct{ chattest.Shelf }

func (several) List(context.Context) <-chan llm.Listing {
	to := make(chan llm.Listing, 9)
	for _, name := range []string{
		"ollama at 127.0.0.1:11434", "work at models.example.org",
		"desk at 192.168.1.5:11434", "lab at 10.0.0.9:8000",
	} {
		to <- llm.Listing{Server: name, Waiting: true}
	}
	to <- llm.Listing{Server: "work at models.example.org", Models: []llm.Info{{
		Name:    "work/gpt-oss-120b",
		Context: 131072, Remote: "models.example.org",
	}, {
		Name: "work/llama-3.3-70b", Context: 131072,
		Remote: "models.example.org",
	}}}
	go func() { // after the list was opened
		time.Sleep(time.Second)
		to <- llm.Listing{
			Server: "ollama at 127.0.0.1:11434",
			Models: []llm.Info{{
				Name: "qwen3:8b", Size: 5_200_000_000, Context: 40960, Parameters: "8.2B",
				Capabilities: []string{"completion", "tools"},
			}},
		}
		to <- llm.Listing{
			Server: "desk at 192.168.1.5:11434",
			Err:    errors.New("desk: model server not reachable at 192.168.1.5:11434: connection refused"),
		}
		close(to)
	}()
	return to
}

func models() tea.Cmd {
	return panel.OpenModels(context.Background(), chattest.Shelf{}, chat.Status{}, nil)
}

func figures(o chat.Options, args string, names ...string) func(b *box) {
	return func(b *box) {
		shown, cmd, err := panel.PageOf("stats").Open(context.Background(), &o, args)
		if err != nil {
			b.t.Fatal(err)
		}
		b.shown = shown
		b.run(cmd)
		b.press(names...)
	}
}

func firstRun(found chat.FoundModel, names ...string) func(b *box) {
	return func(b *box) {
		setup := &chattest.Folders{Found: found}
		b.shown, b.setup = &panel.FirstRun{}, setup
		b.run(panel.FindModel(context.Background(), setup))
		b.run(panel.FindNotes(context.Background(), setup))
		b.press(names...)
	}
}

const plan = `---
title: Running plan
tags: [running]
---
# Running plan

See [[log|the log]], [the guide](https://runs.example/guide) and [[a note that is gone]].
` + "\n## Weeks\n\n" + `| week | km |
|---|---:|
| 1 | 12 |
| 2 | 13.2 |

` + "```python\nweeks = [12, 13.2, 14.5, 12]\n```" + `

- raise it by **at most** 10 % a week
- step back every fourth week

`

// twoNotes are a plan and a log.
type twoNotes struct{ chattest.Library }

func (twoNotes) Note(_ context.Context, name, from string) (chat.Note, error) {
	switch name {
	case "running/plan.md":
		text := plan
		for week := range 20 {
			text += fmt.Sprintf("Week %d: what was run and how it felt.\n\n", week+1)
		}
		return chat.Note{Path: name, File: "/notes/" + name, Text: text}, nil
	case "log":
		return chat.Note{
			Path: "running/log.md", File: "/notes/running/log.md",
			Text: "# Log from " + from + "\n\n13 km\n",
		}, nil
	}
	return chat.Note{}, fmt.Errorf("there is no note %q", name)
}

// note is the story of a note that is opened at a line.
func note(name string, line int, names ...string) func(b *box) {
	return func(b *box) {
		n := panel.NewNote(twoNotes{}, name, line, line)
		b.take(panel.OpenMsg{Panel: n})
		b.run(n.Read(context.Background()))
		b.press(names...)
	}
}

func TestMissingNoteIsReported(t *testing.T) {
	b := &box{t: t, keys: draw.DefaultKeys(), width: 80}
	note("nothing", 0)(b)
	if b.shown != nil || b.asks != `"there is no note \"nothing\""` {
		t.Errorf("shown %v, asked for %s", b.shown, b.asks)
	}
}

func TestANoteIsClosed(t *testing.T) {
	for _, key := range []string{"q", "esc"} {
		b := &box{t: t, keys: draw.DefaultKeys(), width: 80}
		if note("running/plan.md", 0, "tab", "enter", key)(b); b.shown != nil {
			t.Errorf("%s leaves it open", key)
		}
	}
}

func TestSourceOfADeletedNoteIsShown(t *testing.T) {
	o := chat.Options{Notes: twoNotes{}}
	cited := transcript.Cited{
		Citation: agent.Citation{Path: "a.md", Line: 9},
		Source:   agent.Source{Path: "a.md", Vault: t.TempDir(), Line: 8, Text: "before\n\nRun three times a week."},
	}
	shown, cmd, problem := panel.OpenSource(t.Context(), &o, cited)
	b := &box{t: t, keys: draw.DefaultKeys(), width: 60, shown: shown}
	b.run(cmd)
	if text := strings.Join(b.draw(60, height, draw.NewTheme("", true, true, nil)), "\n"); problem != "" ||
		!strings.Contains(b.asks, "there is no note") || !strings.Contains(text, "Run three times a week.") {
		t.Errorf("%s, %s:\n%s", problem, b.asks, text)
	}
}
