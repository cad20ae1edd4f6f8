package tui

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/internal/chattest"
	"lifehub/tui/dialog"
)

// TestMain lets the test binary be the chat itself, for tests on a real
// terminal.
func TestMain(m *testing.M) {
	switch os.Getenv("LIFEHUB_TUI_CHILD") {
	case "":
	case "stuck":
		_ = runProgram(context.Background(), stuck{}, func(bool) tea.Msg { return tea.Quit() }, func() {})
	default:
		os.Exit(child())
	}
	os.Exit(m.Run())
}

// child is a chat on the terminal it was started on.
func child() int {
	assistant := &chattest.Script{
		Bodies: chattest.Story(chattest.Planning, chattest.Searched, chattest.Answered[:5]),
		Held:   true,
	}
	options := chattest.WithWorld(assistant)
	options.Editor = os.Getenv("EDITOR")
	if os.Getenv("LIFEHUB_TUI_CHILD") == "panic" { // while a progress bar is shown
		options.Assistant = panicking{}
		status := make(chan chat.Status, 1)
		status <- chat.Status{Notes: 200, Indexed: 50, Indexing: true}
		options.Status = status
	}
	how, _, err := Run(context.Background(), options)
	if err != nil {
		return 1
	}
	return 10 + int(how)
}

// stuck is a model that reports on file 3 that its Update never returns.
type stuck struct{}

func (stuck) Init() tea.Cmd  { return func() tea.Msg { return stuck{} } }
func (stuck) View() tea.View { return tea.View{AltScreen: true} }

func (s stuck) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if msg == (stuck{}) {
		_ = os.NewFile(3, "stuck").Close()
		select {}
	}
	return s, nil
}

type panicking struct{}

func (panicking) Ask(context.Context, string, string) <-chan agent.Event { panic("on purpose") }

// watched is a screen that wakes who waits for it whenever it changed.
type watched struct {
	*vt.SafeEmulator
	changed chan struct{}
}

func newWatched(t *testing.T, width, height int) *watched {
	w := &watched{SafeEmulator: vt.NewSafeEmulator(width, height), changed: make(chan struct{}, 1)}
	// answers to queries; lives as long as the test binary, for Close races with it
	go io.Copy(io.Discard, w.SafeEmulator)
	return w
}

// cooked adds the carriage returns that Bubble Tea leaves to a terminal whose modes it could not set.
type cooked struct{ *watched }

func (c cooked) Write(p []byte) (int, error) {
	_, err := c.watched.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n")))
	return len(p), err
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.SafeEmulator.Write(p)
	select {
	case w.changed <- struct{}{}:
	default:
	}
	return n, err
}

// patience bounds each wait, so that a test fails rather than hangs: other work
// of the machine may take nearly all of its time.
const patience = time.Minute

// waitFor returns once the screen holds a text.
func (w *watched) waitFor(t *testing.T, want string) {
	t.Helper()
	late := time.After(patience)
	for !strings.Contains(ansi.Strip(w.Render()), want) {
		select {
		case <-w.changed:
		case <-late:
			t.Fatalf("no %q on the screen:\n%s", want, ansi.Strip(w.Render()))
		}
	}
}

func TestAWholeProgramAnswersApprovesAndLeaves(t *testing.T) {
	screen := newWatched(t, 80, 24)
	question, _ := chattest.Asked(chattest.TaskAsked)
	decided := make(chan agent.Reply, 1)
	question.Reply = func(r agent.Reply) { decided <- r }
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	m, err := New(ctx, chattest.WithWorld(chattest.Hold(chattest.Story(chattest.Planning, chattest.Searched,
		[]agent.Body{agent.Said{Content: "Hello **there**."}, question})...)))
	if err != nil {
		t.Fatal(err)
	}
	keys, typing := io.Pipe()
	program := tea.NewProgram(m, tea.WithInput(keys), tea.WithOutput(cooked{screen}), tea.WithWindowSize(80, 24),
		tea.WithColorProfile(colorprofile.ANSI256),
		tea.WithEnvironment([]string{"TERM=xterm-256color"}), tea.WithoutSignalHandler())
	done := make(chan error, 1)
	go func() {
		_, err := program.Run()
		done <- err
	}()

	screen.waitFor(t, "▌ Ask")
	io.WriteString(typing, "\x1b[200~what about\r\nrunning?\x1b[201~")
	screen.waitFor(t, "[paste 1 · 2 lines]")
	io.WriteString(typing, "\x1b[13;2ushift")
	screen.waitFor(t, "shift")
	time.Sleep(20 * atOnce) // no part of what came before
	io.WriteString(typing, "\r")
	screen.waitFor(t, "Buy milk")
	screen.waitFor(t, "Allow once")
	late := time.After(patience)
	for answered := false; !answered; { // the guard lets it through when it may
		select {
		case <-time.After(dialog.QuietPeriod + 50*time.Millisecond):
			io.WriteString(typing, "y\r") // what comes too soon is a message
		case r := <-decided:
			if r.Decision != agent.AllowOnce {
				t.Errorf("reply = %+v", r)
			}
			answered = true
		case <-late:
			t.Fatal("the question is not answered")
		}
	}
	io.WriteString(typing, "\x1b")
	screen.waitFor(t, "stopped")
	screen.waitFor(t, "Hello")
	io.WriteString(typing, "\x04")
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("Ctrl+D does not leave")
	}
}
