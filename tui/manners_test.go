package tui

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
	"lifehub/tui/draw"
	"lifehub/tui/transcript"
)

// bells is how often the user was called, and the words of the notifications.
func (r *rig) bells() (rung int, said string) {
	return strings.Count(r.raw, "\a"), strings.NewReplacer("\a", "", "\x1b]9;", "", "\x1b\\", "\n").Replace(r.raw)
}

func TestNotifyOnlyWithoutFocus(t *testing.T) {
	permission, _ := chattest.Asked(chattest.TaskAsked)
	form := agent.InputAsked{ID: "1", Question: agent.Question{
		From: "s", Kind: agent.FormInput, Message: "m",
		Schema: chattest.Raw(`{}`),
	}}
	for name, tc := range map[string]struct {
		assistant *chattest.Script
		says      string
	}{
		"an answer": {chattest.Play(chattest.Story(chattest.Planning, chattest.Searched,
			chattest.Answered)...), "ready"},
		"a tool asks":   {chattest.Hold(permission), "a tool"},
		"a server asks": {chattest.Hold(form), "input"},
		"there is no answer": {chattest.Play(agent.Failed{
			Message: "The disk is full.",
			Err:     errors.New("full"),
		}), "no answer"},
		"the words are never foreign": {chattest.Play(chattest.SayEverywhere("\x1b]9;pay me\a")[:13]...), "ready"},
	} {
		t.Run(name, func(t *testing.T) {
			for look, want := range map[string]string{
				"away": tc.says, "never told": "", "back": "",
				"types": "", "quiet": "",
			} {
				o := chattest.WithWorld(tc.assistant)
				o.Quiet = look == "quiet"
				inRig(t, 80, 24, o, func(r *rig) {
					if look == "away" || look == "quiet" {
						r.send(tea.BlurMsg{})
						r.run(r.m.ask("go"))
					} else {
						if look != "never told" {
							r.send(tea.BlurMsg{})
						}
						if look == "back" {
							r.send(tea.FocusMsg{})
						}
						r.keys("go", "enter") // who types looks on
					}
					r.pass(100 * time.Millisecond)
					rung, said := r.bells()
					if once := min(len(want), 1); rung != once || strings.Count(said, "\n") != once ||
						!strings.Contains(said, want) || strings.Contains(said, "pay me") {
						t.Errorf("%s: rung %d times, said %q, want %q", look, rung, said, want)
					}
				})
			}
		})
	}
}

func TestTheTitleNamesTheConversationAndNothingElse(t *testing.T) {
	for _, evil := range append([]string{"running", strings.Repeat("長い", 5000)}, hostile...) {
		inRig(t, 80, 24, chattest.WithWorld(chattest.Hold()), func(r *rig) {
			r.send(conversationMsg{ID: "c1", Title: evil})
			title := r.m.View().WindowTitle
			onlyText(t, "title", title)
			if !strings.HasPrefix(title, "LifeHub") || draw.Width(title) > 40 ||
				len(evil) > 5000 && draw.Width(title) < 38 || evil == "running" && title != "LifeHub · running" {
				t.Errorf("%.80q gives the title %q", evil, title)
			}
		})
	}
}

func TestProgressBarIsShownDuringATurn(t *testing.T) {
	inRig(t, 80, 24, chattest.WithWorld(chattest.Hold()), func(r *rig) {
		at := func(what string, want int) {
			t.Helper()
			bar, got := r.m.View().ProgressBar, -1
			if bar != nil {
				got = bar.Value
			}
			if got != want {
				t.Errorf("%s: the bar is at %d, want %d", what, got, want)
			}
		}
		at("nothing to do", -1)
		r.send(statusMsg{Notes: 200, Indexed: 50, Indexing: true})
		at("a quarter indexed", 25)
		r.send(statusMsg{Notes: 200, Indexed: 300, Indexing: true})
		at("more notes than there were", 100)
		r.send(statusMsg{Notes: 200, Indexed: 200})
		at("indexed", -1)

		for name, end := range map[string]error{"fetched": nil, "broken": errors.New("no space")} {
			server := slowServer{done: make(chan int64), end: make(chan error)}
			r.m.Options.Models = server
			r.run(r.m.startPull("m"))
			r.settle()
			server.done <- 1
			r.settle()
			at("a quarter fetched", 25)
			server.done <- 1 << 60
			r.settle()
			at("more than there is", 100)
			server.end <- end
			r.settle()
			at(name, -1)
		}
	})
}

// slowServer pulls a model of 4 bytes as far as it is told.
type slowServer struct {
	chat.Models
	done chan int64
	end  chan error
}

func (s slowServer) Pull(_ context.Context, _ string, progress func(status string, done, total int64)) error {
	for {
		select {
		case done := <-s.done:
			progress("pulling", done, 4)
		case err := <-s.end:
			return err
		}
	}
}

// onlyText fails when a line holds anything but characters that show.
func onlyText(t *testing.T, what, line string) {
	t.Helper()
	if strings.ContainsAny(line, "\n\x1b") {
		t.Errorf("%s: a control in %q", what, line)
		return
	}
	onlyOurs(t, what, line)
}

func TestANoteAmongTheSourcesIsALink(t *testing.T) {
	for name, tc := range map[string]struct{ vault, path, want string }{
		"a note": {
			"/home/ana/notes", "log/2026 März.md",
			"file://wren/home/ana/notes/log/2026%20M%C3%A4rz.md",
		},
		"a vault of a strange name": {"/home/ana/a;b#c?d%41", "n.md", "file://wren/home/ana/a;b%23c%3Fd%2541/n.md"},
		"outside of its vault":      {"/home/ana/notes", "../.ssh/id.md", ""},
		"an absolute path":          {"/home/ana/notes", "/etc/x.md", ""},
		"a program":                 {"/home/ana/notes", "run.desktop", ""},
		"no vault":                  {"", "fitness.md", ""},
		"a vault that is no folder": {"../notes", "fitness.md", ""},
		"controls that end the link": {
			"/home/ana/notes", "a\x1b\\\x1b]0;owned\a\u009c.md",
			"file://wren/home/ana/notes/a%1B%5C%1B%5D0;owned%07%C2%9C.md",
		},
		"bytes that are no characters": {"/home/ana/notes", "a\xff\x9c.md", "file://wren/home/ana/notes/a%FF%9C.md"},
	} {
		t.Run(name, func(t *testing.T) {
			s := transcript.NewSources("wren")
			s.Show(chat.Cite(nil, agent.Citation{
				N: 1, Path: tc.path, Line: 3, Verdict: agent.Verified,
				Sentence: "Rest.",
			}, agent.Source{N: 1, Path: tc.path, Vault: tc.vault}))
			for _, width := range []int{100, 30, 12} {
				for _, line := range s.Render(width, draw.NewTheme("", true, false, nil)) {
					onlyOurs(t, name, line)
					if opened, closed := strings.Count(line, "\x1b]8;;f"),
						strings.Count(line, "\x1b]8;;\a"); opened != closed {
						t.Errorf("%d links are opened and %d closed on the row %q", opened, closed, line)
					}
				}
			}
			if got := s.Render(100, draw.NewTheme("", true, false, nil))[0]; (tc.want != "") != strings.Contains(got,
				fmt.Sprintf("\x1b]8;;%s\a", tc.want)) || strings.Contains(got, "file://") != (tc.want != "") {
				t.Errorf("the row is %q, want the link %q", got, tc.want)
			}
		})
	}
}

// Before the first question the screen says what is counted, and suggests no
// question that is not visible.
func TestWelcomeShowsCountsAndSuggestions(t *testing.T) {
	inRig(t, 80, 30, chattest.WithEverything(), func(r *rig) {
		r.send(statusMsg{Vault: "notes", Notes: 200, Indexed: 50, Indexing: true})
		r.mustShow("notes · reading 50 of 200 notes")
		r.send(statusMsg{Vault: "notes", Notes: 300, Indexed: 50, Indexing: true, Embedding: true})
		r.mustShow("notes · embedding 50 of 300 passages")
		r.send(statusMsg{Vault: "notes", Notes: 200, Indexed: 200, Questions: []string{"Running, how often?"}})
		r.keys("down")
		r.mustShow("▌ Running, how often?")
		r.ask("/tools")
		r.mustNotShow("Running, how often?")
	})
}

// The header says that the model server is gone, until it answers again.
func TestTheHeaderSaysThatTheServerIsGone(t *testing.T) {
	script := chattest.Play(agent.Failed{
		Message: "Model server not reachable.",
		Err:     fmt.Errorf("ask: %w", llm.ErrUnreachable),
	})
	inRig(t, 100, 24, chattest.WithWorld(script), func(r *rig) {
		r.ask("how often?")
		r.mustShow("qwen3:8b not reachable")
		script.Bodies = []agent.Body{agent.Said{Content: "Three times."}, agent.Ended{Answer: "Three times."}}
		r.ask("how often?")
		r.mustNotShow("qwen3:8b not reachable")
	})
}
