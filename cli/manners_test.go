//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
	"lifehub/internal/ttytest"
	"lifehub/llm/llmtest"
)

// heldAnswer serves a model that plans a search and begins to answer, and continues when the test
// calls goOn. env is the environment of a chat with it.
func heldAnswer(t *testing.T) (env []string, goOn func()) {
	hold := make(chan struct{})
	plan := `{"reasoning":"The notes tell.","steps":[{"id":"1","tool":"search_notes","input":{"query":"run"},` +
		`"description":"look it up"}]}`
	model := llmtest.NewScript(
		llmtest.Answer{Match: asksPlanner, Text: plan, Always: true},
		llmtest.Answer{
			Match: asksExplainer, Text: strings.Repeat("You run three times a week 走る 👩‍👧 [1]. ", 40),
			Hold: hold, HoldAfter: 60, Always: true,
		},
		llmtest.Answer{Text: "Running", Always: true},
	)
	return []string{
		"OLLAMA_HOST=" + llmtest.Serve(t, model), "LIFEHUB_MODEL=" + llmtest.ServedModel,
		"LIFEHUB_MODE=plan",
	}, func() { close(hold) }
}

func TestUserIsNotifiedInAnUnfocusedWindow(t *testing.T) {
	t.Parallel()
	env, goOn := heldAnswer(t)
	term := startTerminal(t, 100, 60, env, "chat", "--notes", apptest.Vault(t))
	const away, back, called = "\x1b[O", "\x1b[I", "\a\x1b]9;LifeHub: "
	paste := func(text string) { // not a key; it shows that everything before it was read
		term.types("\x1b[200~" + text + "\x1b[201~")
		term.sees("▌ " + text)
	}
	term.sees("2 notes")
	term.types("how often do I run?\r")
	term.sees("esc stop", "You run three")
	term.types(away)
	paste("seen")
	goOn()
	term.waits(func(string) bool { return strings.Contains(term.sent(), called) }, "calls the user")
	term.sees("ctrl+p commands", "▌ seen")
	if got := term.sent(); !strings.Contains(got, "\x1b]2;LifeHub · how often do I run?\a") {
		t.Error("the window was never named after the conversation")
	}
	if got := term.sent(); !strings.Contains(got, "\x1b]8;;file://") {
		t.Error("the note among the sources is no link")
	}

	<-time.After(200 * time.Millisecond) // text right after a paste counts as part of it
	term.types(back + "\x15")
	term.types("and where?\r")
	term.waits(func(screen string) bool {
		return strings.Contains(screen, "▌ and where?") && strings.Contains(screen, "ctrl+p commands") &&
			strings.Count(screen, "changed nothing") == 2
	}, "has answered again")
	if n := strings.Count(term.sent(), "\x1b]9;L"); n != 1 {
		t.Errorf("the user was called %d times, want once", n)
	}
	term.types("\x04")
	term.exits()
	if left := ttytest.Left(term.sent()); left != nil {
		t.Errorf("the terminal keeps %q", left)
	}
}

// states are states of the screen that a resize storm and an exit can hit.
var states = map[string]struct {
	keys, shows string
	rows        []string // of the last frame: its first row begins with the first, the rest are in it
}{
	"a streamed answer with a plan": {"how often do I run?\r", "esc stop", []string{"    LifeHub", "▌ "}},
	"a permission dialog":           {"/note buy milk\r", "Allow once", []string{"    LifeHub", "│ ", "buy milk"}},
	"help":                          {"\x1bOP", "esc close", []string{"    LifeHub", "│ "}},
	"conversations":                 {"\x13", "close", []string{"    LifeHub", "│ ", "type to search"}},
	"servers":                       {"/mcp\r", "close", []string{"    LifeHub", "│ "}},
	"figures":                       {"/stats\r", "esc close", []string{"    LifeHub", "│ "}},
	"commands":                      {"/", "complete", []string{"    LifeHub", "▌ /"}},
	"notes to name":                 {"@run", "insert", []string{"    LifeHub", "▌ @run", "running.md"}},
	"first run":                     {"", "Which notes", []string{"    LifeHub", "│ "}},
	"nothing yet":                   {"", "2 notes", []string{"    LifeHub", "▌ "}},
}

// TestStormOfSizesAndExitInEveryPanel resizes the real program a thousand times a second.
// Afterwards the frame fits the last size, and after a signal the terminal is restored. Each state
// gets one of the signals; LIFEHUB_SOAK=1 combines all states and signals, after a longer storm.
func TestStormOfSizesAndExitInEveryPanel(t *testing.T) {
	t.Parallel()
	ends := []struct {
		signal syscall.Signal
		code   int
	}{
		{syscall.SIGTERM, app.ExitTerminated},
		{syscall.SIGHUP, app.ExitTerminated},
		{syscall.SIGQUIT, app.ExitTerminated},
		{syscall.SIGINT, app.ExitInterrupted},
	}
	sizes, soak := 100, os.Getenv("LIFEHUB_SOAK") == "1"
	if soak {
		sizes = 1000
	}
	for n, name := range slices.Sorted(maps.Keys(states)) {
		if testenv.Race && n%3 != 0 { // without the race detector all are run
			continue
		}
		state := states[name]
		for i, end := range ends {
			if !soak && i != n%len(ends) {
				continue
			}
			t.Run(fmt.Sprint(name, ", ", end.signal), func(t *testing.T) {
				t.Parallel()
				env, _ := heldAnswer(t)
				arg, ready := []string{"chat", "--notes", apptest.Vault(t)}, "2 notes"
				if name == "first run" {
					arg, ready = nil, state.shows
				}
				term := startTerminal(t, 100, 30, env, arg...)
				term.sees(ready)
				term.types(state.keys)
				term.sees(state.shows)
				term.storms(sizes, 90, 28)
				term.waits(func(screen string) bool {
					rows := strings.Split(screen, "\n")
					for _, begin := range state.rows {
						if !strings.Contains(screen, begin) {
							return false
						}
					}
					return strings.Contains(screen, state.shows) && len(rows) == 28 &&
						strings.HasPrefix(rows[0], state.rows[0])
				}, "is right for the last size")
				if err := term.cmd.Process.Signal(end.signal); err != nil {
					t.Fatal(err)
				}
				if code := term.exits(); code != end.code {
					t.Errorf("exit code %d, want %d", code, end.code)
				}
				if left := ttytest.Left(term.sent()); left != nil {
					t.Errorf("the terminal keeps %q", left)
				}
			})
		}
	}
}

// storms resizes the terminal a thousand times a second, from 0×0 to 500×300, ending with the given
// size.
func (term *terminal) storms(sizes, width, height int) {
	term.t.Helper()
	term.storming.Store(true)
	any := rand.New(rand.NewPCG(1, 2))
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for range sizes {
		<-tick.C
		_ = pty.Setsize(term.pty, &pty.Winsize{Cols: uint16(any.IntN(501)), Rows: uint16(any.IntN(301))})
	}
	term.screen.Resize(width, height)
	if err := pty.Setsize(term.pty, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)}); err != nil {
		term.t.Fatal(err)
	}
}

func TestSuspendAndResumeRestoreTheTerminal(t *testing.T) {
	t.Parallel()
	p := newPane(t)
	p.shell()
	p.types(strings.Join(append(p.env[2:], os.Args[0], "chat", "--notes", apptest.Vault(t)), " "))
	p.presses("Enter")
	p.sees("2 notes", "▌ Ask")
	p.types("a draft")
	p.sees("▌ a draft")
	for n := range 2 { // earlier output of the shell stays below the chat, so each round prints something new
		p.presses("C-z")
		p.waits(func(screen string) bool { return strings.Count(screen, "Stopped") == n+1 },
			"shows that it was stopped")
		p.types(fmt.Sprintf("echo $((40+%d)) says the shell", n)) // typed into the shell, which shows it
		p.presses("Enter")
		p.sees(fmt.Sprint(40+n, " says the shell"))
		p.types("fg")
		p.presses("Enter")
		p.sees("▌ a draft", "2 notes")
	}
	p.presses("C-c", "C-d")
	p.sees("Stopped")
}

func TestCopiedTextIsInTmuxsBuffer(t *testing.T) {
	t.Parallel()
	p := newPane(t)
	// as tmux sets it for its panes; env -i removed it
	p.env = append(p.env, "TMUX="+filepath.Join(p.sockets, "1")+",1,0")
	p.open("chat", "--notes", apptest.Vault(t))
	p.sees("2 notes")
	p.asks("how often do I run?")
	p.sees("three times a week", "ctrl+p commands")
	p.types("/copy")
	p.presses("Enter")
	p.sees("copied")
	late := time.After(patience)
	for !strings.Contains(p.buffer(), "three times a week") {
		select {
		case <-time.After(30 * time.Millisecond):
		case <-late:
			t.Fatalf("the buffer of tmux holds %q", p.buffer())
		}
	}
}

// TestPlainLinesWithoutAScreen starts the chat where a screen cannot be drawn. It must print
// plain lines without escape sequences.
func TestPlainLinesWithoutAScreen(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	vault := apptest.Vault(t)
	for name, env := range map[string][]string{
		"a dumb terminal":     {"TERM=dumb"},
		"no name of it":       {"TERM="},
		"no name, no colours": {"TERM=", "NO_COLOR=1", "LANG=C"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			term := startTerminal(t, 80, 24, env, "chat", "--notes", vault)
			term.sees("> ")
			term.types("how often do I run?\n")
			term.sees("three times a week")
			term.types("/quit\n")
			if code := term.exits(); code != app.ExitDone {
				t.Errorf("exit code %d", code)
			}
			if strings.Contains(term.sent(), "\x1b") {
				t.Errorf("a terminal that understands none was sent escapes: %q", term.sent())
			}
		})
	}
	t.Run("a pipe", func(t *testing.T) {
		t.Parallel()
		cmd := offScreen(t, "chat", "--notes", vault)
		cmd.Stdin = strings.NewReader("how often do I run?\n/quit\n")
		out, err := cmd.CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("three times a week")) || bytes.ContainsAny(out, "\x1b\a") {
			t.Errorf("%v, %q", err, out)
		}
	})
	t.Run("input from a file on a terminal", func(t *testing.T) {
		t.Parallel()
		cmd := offScreen(t, "chat", "--notes", vault)
		file := filepath.Join(t.TempDir(), "questions")
		apptest.Write(t, file, "how often do I run?\n")
		in, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		cmd.Stdin = in
		tty, slave, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer tty.Close()
		cmd.Stdout, cmd.Stderr = slave, slave
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		slave.Close()
		var out bytes.Buffer
		_, _ = out.ReadFrom(tty) // fails when the program has exited
		if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "three times a week") ||
			bytes.ContainsAny(out.Bytes(), "\x1b\a") {
			t.Errorf("%v, %q", err, out.String())
		}
	})
}

// TestUnusualTerminalsGetAScreen starts the chat in other kinds of terminals.
func TestUnusualTerminalsGetAScreen(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	vault := apptest.Vault(t)
	colour := regexp.MustCompile(`\x1b\[[0-9;:]*[345]8[;:]|\x1b\[(3|4|9|10)[0-7][;m]`)
	for name, tc := range map[string]struct {
		env           []string
		width, height int
		colours       bool
	}{
		"colours not wanted":           {[]string{"NO_COLOR=1", "COLORTERM=truecolor"}, 80, 24, false},
		"an old one":                   {[]string{"TERM=vt100"}, 80, 24, true},
		"the console":                  {[]string{"TERM=linux"}, 80, 24, true},
		"one that nobody knows":        {[]string{"TERM=no-such-terminal"}, 80, 24, true},
		"letters that are not Unicode": {[]string{"LANG=C", "LC_ALL=de_DE.ISO-8859-1"}, 80, 24, true},
		"one cell":                     {nil, 1, 1, true},
		"a narrow column":              {nil, 3, 40, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			term := startTerminal(t, tc.width, tc.height, tc.env, "chat", "--notes", vault)
			term.waits(func(string) bool { return strings.Contains(term.sent(), "\x1b[?1049h") }, "is taken")
			if tc.width >= 80 {
				term.sees("2 notes")
				term.types("how often do I run?\r")
				term.sees("three times a week", "ctrl+p commands")
			} else {
				term.types("x\x03")
			}
			if got := colour.FindString(term.sent()); tc.colours != (got != "") && tc.width >= 80 {
				t.Errorf("colours %t: %q", tc.colours, got)
			}
			term.types("\x04")
			if code := term.exits(); code != app.ExitDone {
				t.Errorf("exit code %d", code)
			}
			if left := ttytest.Left(term.sent()); left != nil {
				t.Errorf("the terminal keeps %q", left)
			}
		})
	}
}

// TestSlowLineAndSilentTerminalWork types, streams, answers a dialog and quits over a line with 200
// ms latency each way, and on terminals that answer queries late or never: no reply becomes a key,
// and nothing waits for one. LIFEHUB_SOAK=1 covers more kinds of lines.
func TestSlowLineAndSilentTerminalWork(t *testing.T) {
	t.Parallel()
	for name, over := range map[string]line{
		"through ssh":               {delay: 200 * time.Millisecond},
		"through ssh, answers none": {delay: 200 * time.Millisecond, silent: true},
		"at once, but answers none": {silent: true},
		"answers when all is drawn": {delay: time.Second},
	} {
		if name != "through ssh" && over.delay > 0 && os.Getenv("LIFEHUB_SOAK") != "1" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, goOn := heldAnswer(t)
			vault := apptest.Vault(t)
			term := startTerminalOver(t, over, 100, 30, env, "chat", "--notes", vault)
			term.sees("2 notes", "▌ Ask")
			for _, key := range "how often do I run?" {
				term.types(string(key))
			}
			term.sees("▌ how often do I run?")
			term.types("\r")
			term.sees("esc stop", "You run three")
			term.types("/note buy milk")
			term.sees("▌ /note buy milk")
			goOn()
			term.waits(func(screen string) bool { return !strings.Contains(screen, "esc stop") }, "has answered")
			term.types("\r")
			term.sees("Allow once", "buy milk")
			<-time.After(700*time.Millisecond + 2*over.delay) // the dialog ignores keys for 500 ms of real time
			term.types("\x1b")                                // once: a second one stops the answer
			term.sees("append note denied", "You declined append_note.", "ctrl+p commands")
			if screen := term.text(); strings.Contains(screen, "rgb:") || strings.Contains(screen, "$y") {
				t.Errorf("an answer of the terminal was typed:\n%s", screen)
			}
			if err := term.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if code := term.exits(); code != app.ExitTerminated {
				t.Errorf("exit code %d", code)
			}
			if left := ttytest.Left(term.sent()); left != nil {
				t.Errorf("the terminal keeps %q", left)
			}
		})
	}
}

// offScreen returns the program without a terminal, in an empty home.
func offScreen(t *testing.T, arg ...string) *exec.Cmd {
	home := t.TempDir()
	cmd := exec.Command(os.Args[0], arg...)
	cmd.Dir = home
	cmd.Env = asProgram(home, filepath.Join(home, ".lifehub"), "TERM=xterm-256color", "OLLAMA_HOST=127.0.0.1:1")
	return cmd
}
