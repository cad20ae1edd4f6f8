//go:build unix

package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
)

// house is a home in which the program is started repeatedly.
type house struct {
	t    *testing.T
	home string
	env  []string
}

func newHouse(t *testing.T, env ...string) *house {
	home := t.TempDir()
	return &house{t, home, append(env, "LIFEHUB_HOME="+home)}
}

func (h *house) opens(arg ...string) *terminal {
	h.t.Helper()
	return startTerminal(h.t, 100, 40, h.env, arg...)
}

// holds returns the files that contain a text.
func (h *house) holds(text string) (files []string) {
	h.t.Helper()
	err := filepath.WalkDir(h.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // deleted meanwhile
		}
		if data, err := os.ReadFile(path); err == nil && strings.Contains(string(data), text) {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return files
}

// commits reports whether a transaction is being written, which a kill would undo.
func (h *house) commits() bool {
	h.t.Helper()
	journal, err := os.Stat(filepath.Join(h.home, "data", "lifehub.db-journal"))
	return err == nil && journal.Size() > 0
}

// keeps waits until a text is on disk for good; loses waits until it is not there.
func (h *house) keeps(text string) { h.t.Helper(); h.waits(text, true) }
func (h *house) loses(text string) { h.t.Helper(); h.waits(text, false) }

func (h *house) waits(text string, there bool) {
	h.t.Helper()
	late := time.After(patience)
	for files := h.holds(text); (len(files) > 0) != there || there && h.commits(); files = h.holds(text) {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-late:
			h.t.Fatalf("%q on the disk: want %t, it stands in %v", text, there, files)
		}
	}
}

// killed kills a program with SIGKILL, as when memory runs out.
func (term *terminal) killed() {
	term.t.Helper()
	if err := term.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		term.t.Fatal(err)
	}
	term.exits()
}

const pasteOfLines = "\x1b[200~" + "gnuword\n" + "line\nline\nline\nline\nline\nline\nline\nline\nline\nline\nline\n" +
	"line\nline\nline\nline\nline\nline\nline\nline\nline\nline\nline\nline\nline\nline\nline\nline\nline\nline\n" +
	"line\nline\n" + "\x1b[201~"

// asksAndQueues asks a question, of whose answer only a part arrives, and queues another.
func asksAndQueues(term *terminal) {
	term.t.Helper()
	term.sees("2 notes")
	term.types("how often do I run?\r")
	term.sees("esc stop", "You run three")
	term.types("and zebraword?\r")
	term.sees("queued: “and zebraword?”")
}

// TestDraftSurvivesAKill kills the program while it answers. The queued messages and the draft are
// restored however the user returns, and none is sent.
func TestDraftSurvivesAKill(t *testing.T) {
	t.Parallel()
	env, goOn := heldAnswer(t)
	h, vault := newHouse(t, env...), apptest.Vault(t)
	term := h.opens("chat", "--notes", vault)
	asksAndQueues(term)
	term.types("and ibexword?\r")
	term.sees("queued: “and ibexword?”")
	term.types("half a tapirword " + pasteOfLines)
	term.sees("▌ half a tapirword [paste 1")
	h.keeps("tapirword [paste 1")
	term.killed()
	goOn()

	for name, arg := range map[string][]string{
		"the last": {"chat", "-c"}, "one from the list": {"chat", "-r"},
		"a new one": {"chat", "--notes", vault}, "the first screen": nil,
	} {
		term = h.opens(arg...)
		if name == "one from the list" {
			term.sees("how often do I run?", "enter open")
			term.types("\r")
		}
		term.sees("not sent: “and zebraword?”", "not sent: “and ibexword?”", "half a tapirword [paste 1")
		if name != "the first screen" {
			term.sees("▌ half a tapirword [paste 1", "none of it")
		}
		h.keeps("tapirword [paste 1")
		term.killed()
	}
	term = h.opens("chat", "-c", "--notes", vault)
	term.sees("▌ how often do I run?", "not sent: “and zebraword?”", "not sent: “and ibexword?”",
		"▌ half a tapirword [paste 1")
	idle := func(waiting string, gone string) {
		t.Helper()
		term.waits(func(screen string) bool {
			return strings.Contains(screen, "▌ Ask anything") && strings.Contains(screen, "ctrl+p commands") &&
				strings.Contains(screen, waiting) && (gone == "" || !strings.Contains(screen, gone))
		}, "has answered, and shows "+waiting)
	}
	term.types("\r") // the user sends the draft
	idle("not sent: “and zebraword?”", "")
	term.types("\x1b[A\x1b[A") // the first of the queued messages
	term.sees("▌ and zebraword?", "enter to send")
	term.types("\r")
	idle("not sent: “and ibexword?”", "not sent: “and zebraword?”")
	term.types("\x1b[A")
	term.sees("▌ and ibexword?")
	term.types("\x03")
	idle("", "ibexword")
	term.types("\x04")
	term.exits()
	h.loses("ibexword")
	conversation := regexp.MustCompile("(?m)^.*search_notes.*$").ReplaceAllString(h.runs("chats", "show",
		strings.Fields(h.runs("chats", "list"))[0]), "")
	for text, times := range map[string]int{
		"how often do I run?": 1, "half a tapirword": 1, "gnuword": 1,
		"and zebraword?": 1, "ibexword": 0,
	} {
		if n := strings.Count(strings.SplitN(conversation, "\n", 2)[1], text); n != times {
			t.Errorf("%q was asked %d times, want %d:\n%s", text, n, times, conversation)
		}
	}
	if left := h.holds(`"waiting"`); left != nil {
		t.Errorf("there is still %v", left)
	}
}

// TestDraftSurvivesEveryEnd ends the program by signals and by commands while a draft exists.
func TestDraftSurvivesEveryEnd(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for name, end := range map[string]func(*terminal){
		"terminal closed":        func(term *terminal) { term.pty.Close() },
		"SIGHUP":                 func(term *terminal) { _ = term.cmd.Process.Signal(syscall.SIGHUP) },
		"SIGTERM":                func(term *terminal) { _ = term.cmd.Process.Signal(syscall.SIGTERM) },
		"ctrl+d, and more waits": func(term *terminal) { term.types("\x03\x04") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, _ := heldAnswer(t)
			h, vault := newHouse(t, env...), apptest.Vault(t)
			term := h.opens("chat", "--notes", vault)
			asksAndQueues(term)
			term.types("tapirword")
			term.sees("▌ tapirword")
			end(term)
			term.exits()
			term = h.opens("chat", "-c", "--notes", vault)
			term.sees("not sent: “and zebraword?”")
			if strings.HasPrefix(name, "ctrl+d") == strings.Contains(term.text(), "was cut off") {
				t.Errorf("only what nobody stopped is offered:\n%s", term.text())
			}
			if strings.HasPrefix(name, "ctrl+d") == strings.Contains(term.text(), "tapirword") {
				t.Errorf("the draft:\n%s", term.text())
			}
		})
	}
}

// TestPermissionIsAskedAgainAfterAKill kills the program while a permission is requested. The next
// start resumes the turn and repeats the request with the same arguments.
func TestPermissionIsAskedAgainAfterAKill(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*terminal){
		"killed":          (*terminal).killed,
		"terminal closed": func(term *terminal) { term.pty.Close() },
		"SIGHUP":          func(term *terminal) { _ = term.cmd.Process.Signal(syscall.SIGHUP) },
		"SIGTERM":         func(term *terminal) { _ = term.cmd.Process.Signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, vault := newHouse(t), apptest.Vault(t)
			term := h.opens("chat", "--notes", vault)
			term.sees("2 notes")
			term.types("/note buy zebras\r")
			term.sees("Allow once", "buy zebras")
			end(term)
			term.exits()
			term = h.opens("chat", "--notes", vault, "-c")
			term.sees("▌ /note buy zebras", "cut off", "▌ Ask anything")
			if strings.Contains(term.text(), "not sent") {
				t.Errorf("what was asked is there twice:\n%s", term.text())
			}
			term.types("/continue\r")
			term.sees("Allow once", "buy zebras")
			<-time.After(700 * time.Millisecond) // the dialog ignores keys for 500 ms of real time
			term.types("y\r")
			term.sees("created daily")
			term.types("\x04")
		})
	}
}

// TestDraftOfTheEditorSurvivesAKill kills the program while the draft is open in the user's editor.
func TestDraftOfTheEditorSurvivesAKill(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	editor := filepath.Join(t.TempDir(), "editor")
	apptest.Write(t, editor, "#!/bin/sh\nprintf 'a zebraword, gone on with\\n' >\"$1\"\necho saved\nexec sleep 60\n")
	if err := os.Chmod(editor, 0o700); err != nil {
		t.Fatal(err)
	}
	h, vault := newHouse(t, "EDITOR="+editor), apptest.Vault(t)
	term := h.opens("chat", "--notes", vault)
	term.sees("2 notes")
	term.types("a zebraword")
	term.sees("▌ a zebraword")
	term.types("\x07")
	h.keeps("gone on with")
	h.keeps(`"editing"`)
	term.killed()
	term = h.opens("chat", "--notes", vault)
	term.sees("▌ a zebraword, gone on with", "none of it")
	term.types("\x03")
	term.sees("▌ Ask")
	term.types("\x04")
	term.exits()
	h.loses("zebraword")
}

// TestDraftIsNotSavedIfNothingIs looks for the draft in every file.
func TestDraftIsNotSavedIfNothingIs(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	h, vault := newHouse(t), apptest.Vault(t)
	term := h.opens("chat", "--notes", vault)
	term.sees("2 notes")
	term.types("how often do I run?\r")
	term.sees("three times a week", "ctrl+p commands")
	term.types("zebraword " + pasteOfLines)
	h.keeps("zebraword")
	term.killed()

	unsaved := h.opens("chat", "--no-save", "--notes", vault)
	unsaved.sees("2 notes")
	unsaved.types("ibexword")
	unsaved.sees("▌ ibexword")
	if strings.Contains(unsaved.text(), "zebraword") {
		t.Errorf("a conversation that is not kept takes what is:\n%s", unsaved.text())
	}
	<-time.After(time.Second) // longer than the delay before a draft is saved
	if files := h.holds("ibexword"); files != nil {
		t.Errorf("--no-save left it in %v", files)
	}
	unsaved.killed()
	if files := h.holds("ibexword"); files != nil {
		t.Errorf("--no-save left it in %v", files)
	}

	id := strings.Fields(h.runs("chats", "list"))[0]
	h.runs("chats", "rm", id, "--yes")
	for _, word := range []string{"zebraword", "gnuword"} {
		if files := h.holds(word); files != nil {
			t.Errorf("chats rm left %q in %v", word, files)
		}
	}
}

// runs runs a command in the house and returns its output.
func (h *house) runs(arg ...string) string {
	h.t.Helper()
	cmd := offScreen(h.t, arg...)
	cmd.Env = append(cmd.Env, h.env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Fatalf("lifehub %s: %v\n%s", strings.Join(arg, " "), err, out)
	}
	return string(out)
}
