//go:build unix

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
	"lifehub/llm/llmtest"
)

// pane is the program in tmux, used as people do: keys are sent by name, and the screen is what
// tmux draws.
type pane struct {
	t       *testing.T
	tmux    string
	sockets string // a folder
	socket  string // of the tmux server; new each time, since the previous server may still be exiting
	opened  int    // number of starts of the program
	home    string
	env     []string
}

func newPane(t *testing.T, env ...string) *pane {
	t.Helper()
	sockets, err := os.MkdirTemp("", "lh") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.MkdirTemp("", "home")
	if err != nil {
		t.Fatal(err)
	}
	p := &pane{t: t, tmux: testenv.Tmux(t), sockets: sockets, home: home}
	p.env = append([]string{"env", "-i"}, asProgram(p.home, filepath.Join(p.home, ".lifehub"), "TERM=tmux-256color",
		"LANG=C.UTF-8", "OLLAMA_HOST=127.0.0.1:1")...)
	p.env = append(p.env, env...)
	t.Cleanup(func() {
		p.end()
		os.RemoveAll(sockets)
		// the program saves before it exits
		for late := time.Now().Add(patience); os.RemoveAll(home) != nil && time.Now().Before(late); {
			<-time.After(50 * time.Millisecond)
		}
	})
	return p
}

// open starts the program in a shell, which remains afterwards and prints the exit code.
func (p *pane) open(arg ...string) {
	p.t.Helper()
	command := append(p.env, "sh", "-c", `"$@"; echo "left with $?"; exec cat`, "sh", os.Args[0])
	p.starts(append(command, arg...)...)
}

// shell starts a shell with job control.
func (p *pane) shell() {
	p.t.Helper()
	p.starts("env", "-i", "PATH="+os.Getenv("PATH"), "TERM=tmux-256color", "PS1=shell: ", "sh", "-i")
	p.sees("shell:")
}

func (p *pane) starts(command ...string) {
	p.t.Helper()
	p.end()
	p.opened++
	p.socket = filepath.Join(p.sockets, strconv.Itoa(p.opened))
	window := []string{"-S", p.socket, "-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30", "-c", p.home}
	out, err := exec.Command(p.tmux, append(window, command...)...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("start tmux: %v: %s", err, out)
	}
}

// end kills the tmux server and the program in it.
func (p *pane) end() {
	if p.socket != "" {
		_ = exec.Command(p.tmux, "-S", p.socket, "kill-server").Run() // it may have exited already
	}
}

func (p *pane) text() string {
	out, _ := exec.Command(p.tmux, "-S", p.socket, "capture-pane", "-p").Output() // fails until the server is up
	return string(out)
}

// buffer returns what was copied last.
func (p *pane) buffer() string {
	out, _ := exec.Command(p.tmux, "-S", p.socket, "show-buffer").Output() // there may be none yet
	return string(out)
}

// sees waits until the screen shows all of the texts.
func (p *pane) sees(want ...string) {
	p.t.Helper()
	p.waits(func(screen string) bool {
		return !slices.ContainsFunc(want, func(text string) bool { return !strings.Contains(screen, text) })
	}, fmt.Sprintf("shows %q together", want))
}

// waits waits until the screen satisfies right.
func (p *pane) waits(right func(screen string) bool, what string) {
	p.t.Helper()
	late := time.After(patience)
	look := time.NewTicker(30 * time.Millisecond)
	defer look.Stop()
	for !right(p.text()) {
		select {
		case <-look.C:
		case <-late:
			p.t.Fatalf("the screen never %s; it is\n%s", what, p.text())
		}
	}
}

// presses sends keys by name; types sends text.
func (p *pane) presses(keys ...string) { p.t.Helper(); p.send(keys...) }

func (p *pane) types(text string) { p.t.Helper(); p.send("-l", "--", text) }

func (p *pane) send(arg ...string) {
	p.t.Helper()
	if out, err := exec.Command(p.tmux, append([]string{"-S", p.socket, "send-keys"},
		arg...)...).CombinedOutput(); err != nil {
		p.t.Fatalf("send keys %q: %v: %s", arg, err, out)
	}
}

// asks types and submits a question.
func (p *pane) asks(question string) {
	p.t.Helper()
	p.types(question)
	p.sees("▌ " + question)
	p.presses("Enter")
}

// pauses waits until a dialog accepts keys, in real time.
func (p *pane) pauses() { <-time.After(700 * time.Millisecond) }

// TestNewUserFindsTheWay follows a user's first day, in tmux.
func TestNewUserFindsTheWay(t *testing.T) {
	t.Parallel()
	opened := filepath.Join(t.TempDir(), "opened")
	editor := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\n{ echo \"$@\"; env; } > '"+opened+"'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := newPane(t, "EDITOR="+editor, "LIFEHUB_MAIL_PASSWORD=of-the-mail", "MY_TOKEN=of-the-user")

	p.open() // first run
	p.sees("Welcome to LifeHub", "▌ Starter notes", "Skip for now")
	p.presses("Enter")
	p.sees("▌ What do my")
	p.presses("Enter") // ask
	p.sees("three times a week", "running/plan.md:8", "ctrl+p commands")

	p.types("/sources") // open a source
	p.presses("Enter")
	p.sees("› [1]")
	p.presses("j", "Enter")
	p.sees("running/plan.md", "e edit")
	p.presses("e")
	for late := time.After(patience); ; {
		if text, err := os.ReadFile(opened); err == nil && strings.Contains(string(text), "TERM=") &&
			strings.Contains(string(text), "MY_TOKEN=") {
			if got := string(text); !strings.HasPrefix(got, "+") || !strings.Contains(got, "starter-notes/") ||
				!strings.Contains(got, ".md") || strings.Contains(got, "of-the-mail") {
				t.Errorf("the editor was started with %q", got)
			}
			break
		}
		select {
		case <-late:
			t.Fatal("the source is not opened in the editor:\n" + p.text())
		case <-time.After(30 * time.Millisecond):
		}
	}
	p.sees("e edit", "esc close")
	p.presses("Escape")
	p.sees("› [1]", "esc back")
	p.presses("Escape")
	p.sees("? help")

	p.asks("/task buy running socks") // approve
	p.sees("Allow once", "running socks")
	p.pauses()
	p.presses("y", "Enter")
	p.sees("added to tasks.md", "ctrl+p commands")

	p.asks("/task sell the boat") // cancel
	p.sees("Allow once", "sell the boat")
	p.pauses()
	p.presses("Escape")
	p.sees("You declined add_task", "ctrl+p commands")
	tasks := apptest.Read(t, filepath.Join(p.home, ".lifehub", "data", "starter-notes", "tasks.md"))
	if !strings.Contains(tasks, "buy running socks") || strings.Contains(tasks, "sell the boat") {
		t.Errorf("the tasks are\n%s", tasks)
	}

	p.types("/edit 3") // branch
	p.presses("Enter")
	p.sees("editing", "▌ What do my")
	p.types(" And where?")
	p.sees("And where?")
	p.presses("Enter")
	p.sees("And where?", "Closest passages", "ctrl+p commands")
	p.presses("PageUp")
	p.sees("‹ 2 of 2 ›")

	p.presses("C-n") // another conversation
	p.sees("▌ Ask your")
	p.asks("when do I fly to the azores?")
	p.sees("trips/azores", "ctrl+p commands")

	p.presses("C-s") // find an old chat by a word in a message
	p.sees("type to search")
	p.types("three times")
	p.sees("In messages", "three times")
	p.presses("Enter")
	p.sees("█ What do my", "three times a week")

	p.presses("Escape") // quit
	p.sees("? help")
	p.presses("C-d")
	p.sees("left with 0")

	p.open("chat", "-c") // resume the last one
	p.sees("when do I fly to the azores?", "changed nothing", "ctrl+p commands")
	p.types("/quit")
	p.presses("Enter")
	p.sees("left with 0")
}

func TestUserSwitchesTheModel(t *testing.T) {
	t.Parallel()
	server := llmtest.StartOllama(t)
	server.Create(llmtest.Planner("scripted-other", llmtest.ScriptedPlan, "Another model says so."))
	p := newPane(t)
	p.env = append(p.env, "OLLAMA_HOST="+server.URL, "LIFEHUB_MODEL=scripted-plan", "LIFEHUB_MODE=plan",
		"LIFEHUB_EMBED_MODEL=tiny-bow")
	p.open("chat", "--notes", apptest.Vault(t))
	p.sees("scripted-plan", "ctrl+p commands")
	p.presses("M-m")
	p.sees("Models", "scripted-other")
	p.types("scripted-other")
	p.sees("▌ scripted-other")
	p.presses("Enter")
	p.sees("now using scripted-other")
	p.asks("how often do I run?")
	p.sees("✓ searched", "Another model says so.", "ctrl+p commands")
	p.presses("C-c", "C-c")
	p.sees("left with 0")
}
