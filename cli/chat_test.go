//go:build unix

package cli

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestChatAnswersFromNotesWithoutAnyServer(t *testing.T) {
	vault := aVault(t)
	term := startTerminal(t, 100, 30, nil, "chat", "--notes", vault)
	term.sees("offline", "2 notes")
	term.types("how often do I run?\r")
	term.sees("three times a week", "running.md:3", "✓")
	term.types("\x04")
	if code := term.exits(); code != exitDone {
		t.Errorf("exit code %d after Ctrl+D, want %d", code, exitDone)
	}
}

func TestChatWritesATaskOnlyAfterYes(t *testing.T) {
	for _, test := range []struct {
		name, key string
		want      bool
	}{{"yes", "y\r", true}, {"no", "n\r", false}} {
		t.Run(test.name, func(t *testing.T) {
			vault := aVault(t)
			term := startTerminal(t, 100, 30, nil, "chat", "--notes", vault)
			term.sees("2 notes")
			term.types("add a task to buy running socks\r")
			term.sees("Allow once", "running socks", "tasks.md")
			if strings.Contains(read(t, filepath.Join(vault, "tasks.md")), "socks") {
				t.Fatal("the task was written before anyone said yes")
			}
			<-time.After(700 * time.Millisecond) // the guard of 500 ms without a key runs in real time
			term.types(test.key)
			term.waits(func(screen string) bool {
				return !strings.Contains(screen, "Allow once") && strings.Contains(screen, "enter send")
			}, "has closed the dialog and ended the turn: quitting earlier stops the approved call")
			term.types("\x04")
			term.exits()
			if got := strings.Contains(read(t, filepath.Join(vault, "tasks.md")), "- [ ] buy running socks"); got != test.want {
				t.Errorf("task written: %v, want %v; the file is\n%s", got, test.want, read(t, filepath.Join(vault, "tasks.md")))
			}
		})
	}
}

// Who types on while a question opens, on a real terminal, answers nothing and
// loses nothing.
func TestTypingOnAnswersNoQuestion(t *testing.T) {
	vault := aVault(t)
	term := startTerminal(t, 100, 30, nil, "chat", "--notes", vault)
	term.sees("2 notes")
	term.types("add a task to buy running socks\r")
	const prose = "yes say any nay, yes a sassy answer" // each key of a yes is in it
	for _, letter := range prose {
		term.types(string(letter))
		<-time.After(80 * time.Millisecond) // who types is 12 keys/s fast
	}
	term.sees("Allow once", "> "+prose)
	if got := read(t, filepath.Join(vault, "tasks.md")); strings.Contains(got, "socks") {
		t.Errorf("typing said yes; the note holds\n%s", got)
	}
	term.types("\x03\x03\x03")
	term.exits()
}

func TestUndoTakesBackTheTaskThatATurnWrote(t *testing.T) {
	vault := aVault(t)
	before := read(t, filepath.Join(vault, "tasks.md"))
	term := startTerminal(t, 100, 30, nil, "chat", "--notes", vault)
	term.sees("2 notes")
	term.types("add a task to buy running socks\r")
	term.sees("Allow once", "running socks")
	<-time.After(700 * time.Millisecond) // the guard of 500 ms without a key runs in real time
	term.types("y\r")
	term.waits(func(screen string) bool {
		return strings.Contains(read(t, filepath.Join(vault, "tasks.md")), "running socks") && !strings.Contains(screen, "working")
	}, "has written the task")
	term.sees("enter send")
	term.types("/undo\r")
	term.sees("Taken back", "tasks.md is as it was before")
	if got := read(t, filepath.Join(vault, "tasks.md")); got != before {
		t.Errorf("after undo the note holds\n%s\nwant\n%s", got, before)
	}
	term.types("/tree\r")
	term.sees("undone")
}

func TestChatGoesOnWithTheLastConversation(t *testing.T) {
	vault := aVault(t)
	first := startTerminal(t, 100, 30, nil, "chat", "--notes", vault, "how often do I run?")
	first.sees("three times a week", "running.md:3")
	first.types("\x04")
	first.exits()
	second := startTerminal(t, 100, 30, []string{"LIFEHUB_HOME=" + filepath.Join(first.home, ".lifehub")}, "chat", "-c", "--notes", vault)
	second.sees("how often do I run?", "three times a week", "running.md:3")
}

// Killed while it asks: the next chat offers to go on, asks the same again,
// and writes the task once.
func TestChatGoesOnWithATurnThatWasKilled(t *testing.T) {
	vault := aVault(t)
	first := startTerminal(t, 100, 30, nil, "chat", "--notes", vault)
	first.sees("2 notes")
	first.types("add a task to buy running socks\r")
	first.sees("Allow once", "running socks")
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	first.exits()
	second := startTerminal(t, 100, 30, []string{"LIFEHUB_HOME=" + filepath.Join(first.home, ".lifehub")}, "chat", "-c", "--notes", vault)
	second.sees("add a task to buy running socks", "This was cut off", "goes on with it")
	<-time.After(700 * time.Millisecond) // the guard of 500 ms without a key runs in real time
	second.types("\r")
	second.sees("Allow once", "running socks", "tasks.md")
	if strings.Contains(read(t, filepath.Join(vault, "tasks.md")), "socks") {
		t.Fatal("the task was written before anyone said yes")
	}
	<-time.After(700 * time.Millisecond)
	second.types("y\r")
	second.waits(func(string) bool {
		return strings.Contains(read(t, filepath.Join(vault, "tasks.md")), "- [ ] buy running socks")
	}, "writes the task")
	second.waits(func(screen string) bool { return strings.Contains(screen, "enter send") }, "comes to its end")
	if n := strings.Count(read(t, filepath.Join(vault, "tasks.md")), "running socks"); n != 1 {
		t.Errorf("the task is there %d times", n)
	}
}
