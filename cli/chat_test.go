//go:build unix

package cli

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
)

func TestChatAnswersFromNotesWithoutAnyServer(t *testing.T) {
	t.Parallel()
	vault := apptest.Vault(t)
	term := startTerminal(t, 100, 30, nil, "chat", "--notes", vault)
	term.sees("no model", "2 notes")
	term.types("how often do I run?\r")
	term.sees("three times a week", "running.md:3", "✓")
	term.types("\x04")
	if code := term.exits(); code != app.ExitDone {
		t.Errorf("exit code %d after Ctrl+D, want %d", code, app.ExitDone)
	}
}

// The model and its window are on the screen before anything is asked.
func TestHeaderNamesTheServersModel(t *testing.T) {
	t.Parallel()
	s := &served{serverShape: serverShapes["vLLM"], t: t}
	server := httptest.NewServer(s)
	defer server.Close()
	term := startTerminal(t, 100, 30, s.env(server.URL), "chat", "--notes", apptest.Vault(t))
	term.sees(servedModel, "□ 0 of 12k")
	term.types("\x04")
	if code := term.exits(); code != app.ExitDone {
		t.Errorf("exit code %d after Ctrl+D, want %d", code, app.ExitDone)
	}
}

func TestChatWritesATaskOnlyAfterYes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, key string
		want      bool
	}{{"yes", "y\r", true}, {"no", "n\r", false}} {
		t.Run(test.name, func(t *testing.T) {
			vault := apptest.Vault(t)
			term := startTerminal(t, 100, 30, nil, "chat", "--notes", vault)
			term.sees("2 notes")
			term.types("/task buy running socks\r")
			term.sees("Allow once", "running socks", "tasks.md")
			if strings.Contains(apptest.Read(t, filepath.Join(vault, "tasks.md")), "socks") {
				t.Fatal("the task was written before anyone said yes")
			}
			<-time.After(700 * time.Millisecond) // the dialog ignores keys for 500 ms of real time
			term.types(test.key)
			term.waits(func(screen string) bool {
				return !strings.Contains(screen, "Allow once") && strings.Contains(screen, "ctrl+p commands")
			}, "has closed the dialog and ended the turn: quitting earlier stops the approved call")
			term.types("\x04")
			term.exits()
			if got := strings.Contains(apptest.Read(t, filepath.Join(vault, "tasks.md")),
				"- [ ] buy running socks"); got != test.want {
				t.Errorf("task written: %v, want %v; the file is\n%s", got, test.want,
					apptest.Read(t, filepath.Join(vault, "tasks.md")))
			}
		})
	}
}

// beginnings are sentences and words whose first characters are keys of a dialog, and which are no answer as a whole.
var beginnings = []string{
	"yesterday I ran", "so which shoes", "a note", "no, the other", "da", "es ist", "an Tom",
	"does anyone", "nein", "A second one",
	"show me", "edit it", "Danke", "ja", "say it again", "s and t", "never mind", "sag mir", "actually no",
	"dann lieber", "eat less", "Now",
}

// shareOf returns the beginnings that this run types.
func shareOf() []string {
	if os.Getenv("LIFEHUB_SOAK") != "" {
		return beginnings
	}
	return beginnings[:6]
}

// Typing sentences while a dialog is open, on a real terminal, does not answer it and loses no
// character.
func TestSentencesAnswerNoQuestion(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	vault := apptest.Vault(t)
	term := startTerminal(t, 100, 30, nil, "chat", "--notes", vault)
	term.sees("2 notes")
	term.types("/task buy running socks\r")
	for i, sentence := range shareOf() {
		<-time.After(time.Duration(i%4) * 300 * time.Millisecond) // before, at and after the end of the 500 ms
		for _, letter := range sentence {
			term.types(string(letter))
			<-time.After(80 * time.Millisecond) // typing at 12 keys per second
		}
		term.sees("Allow once", "▌ "+sentence)
		term.types("\r") // it is queued
		term.sees("y or n, then")
	}
	if got := apptest.Read(t, filepath.Join(vault, "tasks.md")); strings.Contains(got, "socks") {
		t.Errorf("typing said yes; the note holds\n%s", got)
	}
	term.types("\x03\x03\x03")
	term.exits()
}

func TestSentencesAnswerNoQuestionByLines(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	vault := apptest.Vault(t)
	term := startTerminal(t, 100, 160, nil, "chat", "--plain", "--notes", vault)
	term.sees("Type a question")
	term.types("/task buy running socks\r")
	term.sees("Allow add_task?", "y allow once")
	for i, sentence := range shareOf() {
		<-time.After(time.Duration(i%4) * 300 * time.Millisecond)
		term.types(sentence + "\r")
		term.waits(func(screen string) bool { return strings.Count(screen, "note: queued: “") == i+1 },
			"takes no sentence for an answer")
	}
	if got := apptest.Read(t, filepath.Join(vault, "tasks.md")); strings.Contains(got, "socks") {
		t.Errorf("a line said yes; the note holds\n%s", got)
	}
	<-time.After(700 * time.Millisecond) // the dialog ignores keys for 500 ms of real time
	term.types("n\r")
	term.sees("You declined `add_task`.", "> "+shareOf()[0])
	term.types("\x04") // once the others were answered
	term.exits()
}

func TestUndoRemovesTheTaskOfATurn(t *testing.T) {
	t.Parallel()
	vault := apptest.Vault(t)
	before := apptest.Read(t, filepath.Join(vault, "tasks.md"))
	term := startTerminal(t, 100, 30, nil, "chat", "--notes", vault)
	term.sees("2 notes")
	term.types("/task buy running socks\r")
	term.sees("Allow once", "running socks")
	<-time.After(700 * time.Millisecond) // the dialog ignores keys for 500 ms of real time
	term.types("y\r")
	term.waits(func(screen string) bool {
		return strings.Contains(apptest.Read(t, filepath.Join(vault, "tasks.md")), "running socks") &&
			!strings.Contains(screen, "working")
	}, "has written the task")
	term.sees("ctrl+p commands")
	term.types("/undo\r")
	term.sees("Undone", "tasks.md")
	if got := apptest.Read(t, filepath.Join(vault, "tasks.md")); got != before {
		t.Errorf("after undo the note holds\n%s\nwant\n%s", got, before)
	}
	term.types("/tree\r")
	term.sees("undone")
}

func TestChatContinuesTheLastConversation(t *testing.T) {
	t.Parallel()
	vault := apptest.Vault(t)
	first := startTerminal(t, 100, 30, nil, "chat", "--notes", vault, "how often do I run?")
	first.sees("three times a week", "running.md:3")
	first.types("\x04")
	first.exits()
	second := startTerminal(t, 100, 30, []string{"LIFEHUB_HOME=" + filepath.Join(first.home, ".lifehub")},
		"chat", "-c", "--notes", vault)
	second.sees("how often do I run?", "three times a week", "running.md:3")
}

// Killed while a permission is requested: the next chat resumes the turn, repeats the request, and
// writes the task once.
func TestChatResumesAKilledTurn(t *testing.T) {
	t.Parallel()
	vault := apptest.Vault(t)
	first := startTerminal(t, 100, 30, nil, "chat", "--notes", vault)
	first.sees("2 notes")
	first.types("/task buy running socks\r")
	first.sees("Allow once", "running socks")
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	first.exits()
	second := startTerminal(t, 100, 30, []string{"LIFEHUB_HOME=" + filepath.Join(first.home, ".lifehub")},
		"chat", "-c", "--notes", vault)
	second.sees("/task buy running socks", "▌Resume it▐")
	<-time.After(700 * time.Millisecond) // the dialog ignores keys for 500 ms of real time
	second.types("\r")
	second.sees("Allow once", "running socks", "tasks.md")
	if strings.Contains(apptest.Read(t, filepath.Join(vault, "tasks.md")), "socks") {
		t.Fatal("the task was written before anyone said yes")
	}
	<-time.After(700 * time.Millisecond)
	second.types("y\r")
	second.waits(func(string) bool {
		return strings.Contains(apptest.Read(t, filepath.Join(vault, "tasks.md")), "- [ ] buy running socks")
	}, "writes the task")
	second.waits(func(screen string) bool { return strings.Contains(screen, "ctrl+p commands") }, "comes to its end")
	if n := strings.Count(apptest.Read(t, filepath.Join(vault, "tasks.md")), "running socks"); n != 1 {
		t.Errorf("the task is there %d times", n)
	}
}
