package tui

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"lifehub/agent"
	"lifehub/internal/chattest"
	"lifehub/tui/boxtest"
)

// looked is a screen that tells what it drew last, when asked with a wantFrame.
type looked struct{ *Model }

// wantFrame asks for the lines of the current frame.
type wantFrame chan string

func (l looked) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if want, ok := msg.(wantFrame); ok {
		want <- l.Model.View().Content
		return l, nil
	}
	_, cmd := l.Model.Update(msg)
	return l, cmd
}

// TestTheTerminalShowsTheFrame resizes the window and presses keys while an answer in several scripts streams, and
// compares now and then each line of the terminal, which only got what changed, with the frame as a whole.
func TestTheTerminalShowsTheFrame(t *testing.T) {
	resizes, every := 120, 12
	if os.Getenv("LIFEHUB_SOAK") != "" {
		resizes, every = 3400, 24
	}
	random := rand.New(rand.NewPCG(1, 2))
	screen := newWatched(t, 80, 24)
	m, err := New(t.Context(), chattest.WithWorld(&chattest.Script{}))
	if err != nil {
		t.Fatal(err)
	}
	begin(m)
	number := m.turn.number
	ctx, cancel := context.WithCancel(t.Context())
	program := tea.NewProgram(looked{m}, tea.WithContext(ctx), tea.WithInput(nil), tea.WithOutput(cooked{screen}),
		tea.WithWindowSize(80, 24),
		tea.WithColorProfile(colorprofile.TrueColor), tea.WithEnvironment([]string{"TERM=xterm-256color"}),
		tea.WithoutSignalHandler())
	over := make(chan struct{})
	go func() { defer close(over); _, _ = program.Run() }()
	defer func() { cancel(); <-over }()
	var pieces []string
	for _, kind := range []string{"prose", "Chinese", "list", "fence", "table"} {
		pieces = append(pieces, answerOf(kind, 300)...)
		pieces = append(pieces, "\n```\n\n")
	}
	compared := 0
	for i := range resizes {
		width, height := 20+random.IntN(160), 6+random.IntN(50)
		screen.Resize(width, height)
		program.Send(tea.WindowSizeMsg{Width: width, Height: height})
		program.Send(batchMsg{Turn: number, Pieces: 1, Events: []agent.Event{{Body: agent.Said{Content: pieces[i%len(pieces)]}}}})
		if key := []string{
			"tab", "up", "pgup", "ctrl+end", "a", "backspace", "esc", "f1",
			"ctrl+p",
		}[random.IntN(9)]; random.IntN(3) == 0 {
			program.Send(boxtest.Keys[key])
		}
		if i%every > 0 {
			continue
		}
		if difference := screen.differs(program, height); difference != "" {
			t.Fatalf("after %d resizes, at %d × %d: %s", i+1, width, height, difference)
		}
		compared++
	}
	t.Logf("%d resizes, %d comparisons, no stale cell", resizes, compared)
}

// differs returns the first line of the terminal that is not that of the frame, once nothing is on its way any more.
func (w *watched) differs(program *tea.Program, height int) (difference string) {
	for late := time.After(patience); ; {
		want := make(wantFrame, 1)
		program.Send(want)
		frame := strings.Split(ansi.Strip(<-want), "\n")
		shown := strings.Split(ansi.Strip(w.Render()), "\n")
		difference = ""
		for y := range height {
			if a, b := lineAt(shown, y), lineAt(frame, y); a != b {
				difference = fmt.Sprintf("line %d is\n%q, not\n%q", y, a, b)
				break
			}
		}
		if difference == "" {
			return ""
		}
		select {
		case <-w.changed:
		case <-time.After(50 * time.Millisecond):
		case <-late:
			return difference
		}
	}
}

// lineAt returns a line without the blanks at its end; "" below the last one.
func lineAt(lines []string, y int) string {
	if y >= len(lines) {
		return ""
	}
	return strings.TrimRight(lines[y], " \r")
}
