package tui

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode"

	"github.com/charmbracelet/x/exp/golden"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/internal/chattest"
	"lifehub/llm"
	"lifehub/tui/panel"
)

// notedCalls notes what a command of a plain chat did beyond what it wrote.
type notedCalls struct {
	chattest.Kept
	*chattest.Shop
	*chattest.Documents
	told []string
}

// pickedModels is the models of the same chat.
type pickedModels struct {
	chattest.Shelf
	*notedCalls
}

func (n *notedCalls) tell(format string, args ...any) {
	n.told = append(n.told, fmt.Sprintf(format, args...))
}

func (n *notedCalls) GoOn(_ context.Context, conversation, turn string) error {
	n.tell("go on %s %s", conversation, turn)
	return nil
}

func (n *notedCalls) Show(_ context.Context, conversation, turn string) error {
	n.tell("show %s %s", conversation, turn)
	return nil
}

func (n *notedCalls) Latest(ctx context.Context, id string, most int) ([]agent.Exchange, error) {
	list, err := n.Exchanges(ctx, id)
	return list[max(0, len(list)-most):], err
}

func (n *notedCalls) Resume(ctx context.Context, conversation, turn string) <-chan agent.Event {
	n.tell("resume %s %s", conversation, turn)
	return chattest.Play(agent.Started{Resumed: true}, agent.Said{Content: "I am."},
		agent.Ended{}).Ask(ctx, conversation, "")
}

func (n *notedCalls) Rename(_ context.Context, id, title string) error {
	n.tell("rename %s %s", id, title)
	return nil
}

func (n *notedCalls) Use(mode agent.Mode) { n.tell("mode %s", mode) }

func (n pickedModels) List(ctx context.Context) <-chan llm.Listing { return n.Shelf.List(ctx) }

func (n pickedModels) Use(_ context.Context, name string) error {
	if name == "zzz" {
		return fmt.Errorf("use %s: %w", name, &llm.NotFoundError{Model: name})
	}
	n.tell("use %s", name)
	return nil
}

// Ask answers with its story, and notes what was asked.
func (n *notedCalls) Ask(_ context.Context, conversation, message string) <-chan agent.Event {
	n.tell("ask %s %q", conversation, message)
	return chattest.Play(chattest.Story(chattest.Searched[4:5], chattest.Answered[3:])...).Ask(context.Background(),
		conversation, message)
}

// plainly runs a plain chat on lines of input and returns what it wrote.
func plainly(t *testing.T, o chat.Options, in string) (out string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var written typist
		p := &printer{o: o, out: &written, lines: linesOf(strings.NewReader(in)), typed: o.FirstRun}
		if how, err := p.talk(t.Context()); how != chat.Quit || err != nil {
			t.Errorf("it ended with %v, %v", how, err)
		}
		for range p.lines { // that were not wanted any more
		}
		out = written.out.String()
	})
	if at := strings.IndexFunc(out, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }); at >= 0 {
		t.Errorf("a control character is written: %q", out[at:])
	}
	return out
}

// withAllOfIt is a chat that has something behind every command.
func withAllOfIt() (chat.Options, *notedCalls) {
	n := &notedCalls{Shop: chattest.ThreeServers(), Documents: &chattest.Documents{
		Name: "asyncio", Why: "said plainer",
		Text: "# asyncio\n\n- prefer `TaskGroup`\n",
	}}
	n.States[0].Consent = true
	o := chattest.WithLibrary()
	o.Assistant, o.Conversations, o.Branches, o.Models, o.Servers, o.Artifacts = n, n, n,
		pickedModels{notedCalls: n}, n, n
	o.Conversation, o.Heading = "c1", "A week in Lisbon"
	o.Statistics, o.Resumer, o.Archive, o.Modes = chattest.Figures{}, n, n, n
	return o, n
}

func TestPlainHasEveryCommandOfThePalette(t *testing.T) {
	tests := map[string]struct {
		in   string // after the command: the answers to what it asks
		told string
	}{
		"/help": {}, "/new": {}, "/copy 2": {}, "/theme light": {}, "/tools": {}, "/quit": {}, "/artifacts": {},
		"/tree": {}, "/find": {}, "/fork": {}, "/edit 3": {}, "/pull llama4": {},
		"/context": {in: "how often?\n/context\n", told: `ask c1 "how often?"`},
		"/sources": {
			in:   "how often?\n/sources\n/sources 1\n/sources 3\n",
			told: `ask c1 "how often?"`,
		},
		"/resume":               {in: "/resume 2\n/resume 3\n/resume c\n/resume c1\n"},
		"/continue":             {told: "resume c1 c1.7"},
		"/retry":                {told: `go on c1 c1.6, ask c1 "Are you there?"`},
		"/rename Lisbon in May": {in: "/rename\n", told: "rename c1 Lisbon in May"},
		"/model":                {in: "/model gpt-oss:120b-cloud\n/model zzz\n", told: "use gpt-oss:120b-cloud"},
		"/mode":                 {in: "/mode loop\n/mode chess\n", told: "mode loop"},
		"/open plan":            {in: "/open\n"},
		"/stats":                {in: "/stats model\n/stats year\n"},
		"/mcp": {in: "/mcp trust everything\ny\n/mcp trust files\n/mcp trust nobody\n/mcp " +
			"restart files\n", told: "trust everything tool echo"},
		"/everything:args-prompt": {
			in: "Hamburg\nHH\ny\n",
			told: `ask c1 "Do what [prompt everything:args-prompt] asks.\n\n` + "```" +
				`attached prompt everything:args-prompt\nWhat's weather in Hamburg?\n` + "```" + `"`,
		},
		"/everything:simple-prompt": {in: "n\n"},
	}
	o, _ := withAllOfIt()
	for _, c := range panel.Commands(&o) {
		tested := false
		for line := range tests {
			name, _, _ := strings.Cut(line, " ")
			tested = tested || name == "/"+c.Name
		}
		if !tested {
			t.Errorf("/%s is not tried in a plain chat", c.Name)
		}
	}
	for line, tc := range tests {
		t.Run(strings.NewReplacer("/", "", ":", " ").Replace(line), func(t *testing.T) {
			o, n := withAllOfIt()
			opened := strings.TrimSuffix(plainly(t, o, ""), "> \n")
			out := strings.TrimPrefix(plainly(t, o, line+"\n"+tc.in), opened)
			if got := strings.Join(append(n.told, n.Shop.Told...), ", "); got != tc.told {
				t.Errorf("it did %q, want %q", got, tc.told)
			}
			golden.RequireEqual(t, out)
		})
	}
}

func TestPlainOpensTheGivenConversation(t *testing.T) {
	tests := map[string]struct {
		change func(o *chat.Options)
		in     string
	}{
		"with a list of conversations": {func(o *chat.Options) { o.Conversation, o.Pick = "", true }, "/resume 2\n"},
		"at a message":                 {func(o *chat.Options) { o.Turn = "c1.5" }, ""},
		"without notes":                {func(o *chat.Options) { *o = chattest.Newcomer(chattest.NoModel)() }, "\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o, _ := withAllOfIt()
			tc.change(&o)
			golden.RequireEqual(t, plainly(t, o, tc.in))
		})
	}
}

func TestPlainReadsAMessageOfSeveralLines(t *testing.T) {
	o, n := withAllOfIt()
	plainly(t, o, "\"\"\"one\n/quit\ntwo\"\"\"\n")
	if want := []string{`ask c1 "one\n/quit\ntwo"`}; !slices.Equal(n.told, want) {
		t.Errorf("got %q, want %q", n.told, want)
	}
}

func TestPlainContinuesAfterAStoppedTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, n := withAllOfIt()
		o.Assistant = chattest.Hold(agent.Started{}, agent.Said{Content: "It begins"})
		signals, lines := make(chan os.Signal, 1), make(chan string)
		var out typist
		p := &printer{o: o, out: &out, lines: lines, signals: signals}
		go func() {
			lines <- "how often?"
			synctest.Wait()
			signals <- os.Interrupt
			lines <- "/mode team"
			close(lines)
		}()
		if how, err := p.talk(t.Context()); how != chat.Quit || err != nil {
			t.Errorf("it ended with %v, %v", how, err)
		}
		if !slices.Equal(n.told, []string{"mode team"}) || !strings.Contains(out.out.String(),
			"It begins\nstopped\n> ") {
			t.Errorf("it did %q and wrote\n%s", n.told, out.out.String())
		}
	})
}
