package tui

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/exp/golden"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/internal/chattest"
	"lifehub/tui/dialog"
)

// typist keeps what is written.
type typist struct {
	mu  sync.Mutex
	out strings.Builder
}

func (y *typist) Write(p []byte) (int, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.out.Write(p)
}

func TestPlainChatReadsAndWritesLines(t *testing.T) {
	question, replies := chattest.Asked(chattest.TaskAsked)
	tests := map[string]struct {
		options chat.Options
		in      string
	}{
		"a question is answered": {chattest.WithWorld(chattest.Play(chattest.Story(chattest.Planning, chattest.Searched,
			chattest.Answered)...)), "what about running?\n/quit\n"},
		"a tool is allowed": {
			chattest.WithWorld(chattest.Play(chattest.Story(chattest.Planning,
				[]agent.Body{question, agent.PermissionGiven{Call: "p", Decision: agent.AllowOnce}, agent.Ended{}})...)),
			"add a task\ny\n",
		},
		"an error has a hint": {chattest.WithWorld(chattest.Play(agent.Failed{
			Message: "model server not reachable",
			Hint:    "ollama serve",
		})), "hello\n\n/nonsense\n/help\n/new\n"},
		"what fills the window": {chattest.WithWorld(chattest.Play(chattest.Story(chattest.Recalled[:1],
			chattest.Windowed)...)), "/context\nwhat about running?\n/context\n"},
		"a command is run": {chat.Options{Assistant: chattest.Play(), Commands: []chat.Command{
			{Name: "tools", Run: func(context.Context, string, string) (string,
				error,
			) {
				return "search_notes: auto", nil
			}},
			{Name: "broken", Run: func(context.Context, string, string) (string, error) {
				return "",
					errors.New("no index")
			}},
		}}, "/tools\n/broken\n"},
		"hostile text is only text": {chattest.WithWorld(chattest.Play(chattest.SayEverywhere("\x1b]0;t\x07\x1b[2J\u202e\x9b1m")[:12]...)), "go\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out typist
			how, err := RunPlain(context.Background(), tc.options, strings.NewReader(tc.in), &out)
			if how != chat.Quit || err != nil {
				t.Errorf("it ended with %v, %v", how, err)
			}
			if !utf8.ValidString(out.out.String()) || strings.ContainsAny(out.out.String(), "\x1b\x07\u009b\u202e") {
				t.Errorf("a control character is written: %q", out.out.String())
			}
			golden.RequireEqual(t, out.out.String())
		})
	}
	if len(*replies) != 1 || (*replies)[0].Decision != agent.AllowOnce {
		t.Errorf("replies = %+v, want one yes", *replies)
	}
}

func TestPlainAcceptsOfferedAnswers(t *testing.T) {
	for in, want := range map[string]agent.Reply{
		"y\n":           {Decision: agent.AllowOnce},
		"s\n":           {Decision: agent.AllowConversation},
		"a\n":           {Decision: agent.AllowAlways},
		"n\n":           {Decision: agent.Refuse},
		"N\ntoo soon\n": {Decision: agent.Refuse, Reason: "too soon"},
		"N\n":           {Decision: agent.Refuse},
		"\n\ny\n":       {Decision: agent.AllowOnce},
		"yes\n y \n":    {Decision: agent.AllowOnce},
		"":              {Decision: agent.Refuse},
	} {
		question, replies := chattest.Asked(chattest.TaskAsked)
		if _, err := RunPlain(context.Background(), chattest.WithWorld(chattest.Play(question)),
			strings.NewReader("go\n"+in), io.Discard); err != nil {
			t.Error(err)
		}
		if len(*replies) == 0 || (*replies)[0] != want {
			t.Errorf("%q: replies = %+v, want %+v", in, *replies, want)
		}
	}
}

// A sentence answers no question put by lines, however fast it is written and
// however soon it comes: it is the next message.
func TestNoSentenceAnswersAQuestionByLines(t *testing.T) {
	questions := map[string]func() (chat.Options, func() bool){
		"permission": func() (chat.Options, func() bool) {
			question, replies := chattest.Asked(chattest.TaskAsked)
			return chattest.WithWorld(chattest.Play(question)), func() bool {
				return slices.ContainsFunc(*replies, func(r agent.Reply) bool { return r.Decision != agent.Refuse })
			}
		},
		"form": func() (chat.Options, func() bool) {
			o, given := chattest.AsksFor(chattest.FormAsked)
			o.Assistant.(*chattest.Script).Held = false
			return o, func() bool {
				return slices.ContainsFunc(*given, func(i agent.Input) bool { return i.Action == agent.InputAccepted })
			}
		},
	}
	for name, open := range questions {
		for _, delay := range []time.Duration{0, 300 * time.Millisecond, 700 * time.Millisecond, 5 * time.Second} {
			t.Run(name+" after "+delay.String(), func(t *testing.T) {
				options, answered := open()
				var sent []string
				for _, sentence := range chattest.Sentences() {
					if !chattest.IsAnswer(sentence) && !strings.HasPrefix(sentence, "/") {
						sent = append(sent, sentence)
					}
				}
				synctest.Test(t, func(t *testing.T) {
					lines := make(chan string)
					go func() {
						defer close(lines)
						lines <- "go"
						for _, sentence := range sent {
							time.Sleep(delay)
							lines <- sentence
						}
					}()
					p := &printer{o: options, out: io.Discard, lines: lines, typed: true}
					if _, err := p.talk(t.Context()); err != nil {
						t.Error(err)
					}
				})
				if answered() {
					t.Error("a sentence answered")
				}
				if got, want := options.Assistant.(*chattest.Script).Asked,
					append([]string{"go"}, sent...); !slices.Equal(got, want) {
					t.Errorf("messages were lost: %d of %d", len(got), len(want))
				}
			})
		}
	}
}

func TestPlainIgnoresAnswersTypedAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		question, replies := chattest.Asked(chattest.TaskAsked)
		lines := make(chan string)
		go func() {
			for _, pasted := range []string{"add a task", "y", "y"} {
				lines <- pasted
			}
			time.Sleep(dialog.QuietPeriod)
			lines <- "n"
			close(lines)
		}()
		var out typist
		p := &printer{o: chattest.WithWorld(chattest.Play(question)), out: &out, lines: lines, typed: true}
		if _, err := p.talk(t.Context()); err != nil {
			t.Error(err)
		}
		if len(*replies) == 0 || slices.ContainsFunc(*replies,
			func(r agent.Reply) bool { return r.Decision != agent.Refuse }) {
			t.Errorf("replies = %+v, want the no that came after the question", *replies)
		}
		if n := strings.Count(out.out.String(), "note: queued: “y”"); n != 2 {
			t.Errorf("it says %d times, want 2, that a line came too early:\n%s", n, out.out.String())
		}
	})
}

func TestPlainApprovesAPlan(t *testing.T) {
	for in, want := range map[string]agent.Input{
		"go\ny\n": {Action: agent.InputAccepted},
		"go\nn\n": {Action: agent.InputDeclined},
		"go\n\n":  {Action: agent.InputCancelled},
		"go\ne\n2\n\n\nBuy sandals\n\n\n\n\n": {
			Action: agent.InputAccepted,
			Values: chattest.Raw(`{"1":"drop","1.query":"running shoes","2":"run","2.due":"2026-03-01","2.text":"Buy ` +
				`sandals","3":"run","3.content":"## Shoes\n\n- {{1.text}}","3.path":"running/plan.md"}`),
		},
	} {
		o, given := chattest.AsksFor(chattest.PlanAsked)
		o.Assistant.(*chattest.Script).Held = false
		var out typist
		if _, err := RunPlain(t.Context(), o, strings.NewReader(in), &out); err != nil {
			t.Fatal(err)
		}
		if len(*given) != 1 || (*given)[0].Action != want.Action || string((*given)[0].Values) != string(want.Values) {
			t.Errorf("%q answered %s %s:\n%s", in, (*given)[0].Action, (*given)[0].Values, out.out.String())
		}
		if shown := out.out.String(); !strings.Contains(shown, "2 add_task: run\n    text: Buy running shoes\n") {
			t.Errorf("the plan is not shown:\n%s", shown)
		}
	}
}

func TestPlainShowsNotices(t *testing.T) {
	options := chattest.WithWorld(chattest.Play())
	notices := make(chan string, 1)
	options.Notices = notices
	notices <- "Ollama is up\x1b[2J"
	in, typing := io.Pipe()
	var out typist
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = RunPlain(t.Context(), options, in, &out)
	}()
	for len(notices) > 0 {
		runtime.Gosched()
	}
	typing.Close()
	<-ended
	if want := "> \nnote: Ollama is up\n> "; !strings.HasPrefix(out.out.String(), want) {
		t.Errorf("it writes %q, want it to begin with %q", out.out.String(), want)
	}
}

func TestPlainRefusesAtTheEndOfInput(t *testing.T) {
	question, replies := chattest.Asked(chattest.TaskAsked)
	if _, err := RunPlain(context.Background(), chattest.WithWorld(chattest.Play(question)), strings.NewReader("go\n"),
		io.Discard); err != nil {
		t.Error(err)
	}
	if len(*replies) != 1 || (*replies)[0].Decision != agent.Refuse {
		t.Errorf("replies = %+v, want a no", *replies)
	}
}

// full is a pipe that nobody reads any more.
type closedOutput struct{}

func (closedOutput) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestPlainEndsIfTheOutputIsClosed(t *testing.T) {
	_, err := RunPlain(context.Background(), chattest.WithWorld(chattest.Play(chattest.Story(chattest.Planning,
		chattest.Searched, chattest.Answered)...)), strings.NewReader("go\nagain\n"), closedOutput{})
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error = %v, want that of the pipe", err)
	}
}
