package panel_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/internal/chattest"
	"lifehub/tui/backend"
	"lifehub/tui/boxtest"
	"lifehub/tui/chats"
	"lifehub/tui/dialog"
	"lifehub/tui/draw"
	"lifehub/tui/keys"
	"lifehub/tui/panel"
)

// box is a panel whose keys and commands are played by hand.
type box struct {
	t     *testing.T
	keys  keys.Map
	width int
	shown panel.Panel
	asks  string // what it asked of the screen last
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
	case panel.OpenMsg:
		if msg.Err != nil || msg.Panel == nil {
			b.t.Fatalf("nothing was opened: %s, %v", msg.Says, msg.Err)
		}
		b.shown = msg.Panel
	default:
		var did tea.Msg
		if b.shown, did, cmd = b.shown.Update(msg, &b.keys); did != nil {
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
			b := &box{t: t, keys: keys.Default(), width: width}
			b.keys.LeaveOut(false, false, false, true)
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

	"the MCP servers":         showing(servers(chattest.ThreeServers())),
	"a server's log":          showing(servers(chattest.ThreeServers()), "l"),
	"no server is configured": showing(servers(&chattest.Shop{})),
	"a server's change is looked at": func(b *box) {
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
	"no conversation yet":        opened(conversations(unused())),
	"the tree":                   opened(func() tea.Cmd { return panel.OpenTree(context.Background(), chattest.Kept{}, "c1") }),

	"models":           opened(models),
	"no model matches": opened(models, "zzz"),
	"themes":           showing(func() panel.Panel { return panel.NewThemes("light", nil) }),

	"figures by day":   figures(chattest.WithFigures(), ""),
	"figures by model": figures(chattest.WithFigures(), "", "tab", "down"),
	"figures of turns": figures(chattest.WithFigures(), "turn", "G"),
	"no figures yet": figures(backend.Options{Figures: func(context.Context, string) ([]agent.Figures, error) {
		return nil, nil
	}}, ""),

	"first run":                     firstRun(backend.FoundModel{Ready: true, Says: "qwen3:8b answers, from Ollama on this machine."}),
	"first run without a model":     firstRun(chattest.NoModel),
	"first run in a folder unknown": firstRun(chattest.NoModel, "~/nowhere", "enter"),
	"first run fetches a model":     firstRun(backend.FoundModel{Says: "Ollama runs here and has no model yet; until then answers quote your notes, which works at once.", Pull: "qwen3:4b", Why: "a model that fits this machine"}, "up", "enter"),
	"first run looks around": func(b *box) {
		o := chattest.Newcomer(chattest.NoModel)()
		b.shown, _ = panel.NewFirstRun(context.Background(), &o) // nothing was found so far
	},
}

func documents(conversation, name string) func() tea.Cmd {
	made := &chattest.Documents{Name: "asyncio", Why: "said plainer", Text: "# asyncio\n\n- prefer `TaskGroup`\n- timeouts\n"}
	return func() tea.Cmd { return panel.OpenArtifacts(context.Background(), made, conversation, name) }
}

func servers(from backend.Servers) func() panel.Panel {
	return func() panel.Panel { return panel.NewServers(from) }
}

func help() panel.Panel {
	o := chattest.WithEverything()
	return &panel.Help{Commands: panel.Commands(&o)}
}

func conversations(o backend.Options) func() tea.Cmd {
	return func() tea.Cmd { return chats.List(context.Background(), &o) }
}

// unused has kept no conversation.
func unused() backend.Options {
	o := chattest.WithEverything()
	o.Conversations = none{}
	return o
}

type none struct{ chattest.Kept }

func (none) Recent(context.Context, int) ([]agent.Conversation, error) { return nil, nil }

func models() tea.Cmd {
	return panel.OpenModels(context.Background(), chattest.Shelf{}, false, nil)
}

func figures(o backend.Options, args string, names ...string) func(b *box) {
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

func firstRun(found backend.FoundModel, names ...string) func(b *box) {
	return func(b *box) {
		o := chattest.Newcomer(found)()
		shown, cmd := panel.NewFirstRun(context.Background(), &o)
		b.shown = shown
		b.run(cmd)
		b.press(names...)
	}
}
