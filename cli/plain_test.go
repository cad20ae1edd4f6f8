//go:build unix

package cli

import (
	"strings"
	"testing"

	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
)

func wroteNoEscape(term *terminal) {
	term.t.Helper()
	if at := strings.Index(term.sent(), "\x1b"); at >= 0 {
		term.t.Errorf("an escape sequence is written: %.60q", term.sent()[at:])
	}
}

func TestCtrlCStopsOnlyTheTurn(t *testing.T) {
	t.Parallel()
	env, _ := heldAnswer(t)
	term := startTerminal(t, 100, 30, env, "chat", "--plain", "--notes", apptest.Vault(t))
	term.sees("/help")
	term.types("how often do I run?\r")
	term.sees("You run three times a week")
	term.types("\x03")
	term.sees("stopped")
	term.types("/new\r")
	term.sees("a new conversation")
	term.types("/quit\r")
	if code := term.exits(); code != app.ExitDone {
		t.Errorf("exit code %d, want %d", code, app.ExitDone)
	}
	wroteNoEscape(term)
}

func TestCtrlCEndsAWaitingPlainChat(t *testing.T) {
	t.Parallel()
	term := startTerminal(t, 100, 30, nil, "chat", "--plain", "--notes", apptest.Vault(t))
	term.sees("/help")
	term.types("\x03")
	if code := term.exits(); code != app.ExitInterrupted {
		t.Errorf("exit code %d, want %d", code, app.ExitInterrupted)
	}
	wroteNoEscape(term)
}

func TestAskDrawsAListOnATerminal(t *testing.T) {
	t.Parallel()
	term := startTerminal(t, 100, 30, nil, "ask", "-q", "--notes", apptest.Vault(t), "how often do I run?")
	term.sees("Closest passages:", "│ I run three times a week")
	if code := term.exits(); code != app.ExitDone {
		t.Errorf("exit code %d, want %d", code, app.ExitDone)
	}
	if sent := term.sent(); strings.Contains(sent, "**") || !strings.Contains(sent, "\x1b[1mrun\x1b[") {
		t.Errorf("it is written as %q", sent)
	}
}

// TestErrorSendsTheTerminalNoQuery runs a failing command in a terminal.
func TestErrorSendsTheTerminalNoQuery(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	term := startTerminal(t, 100, 30, nil, "chats", "show", "none")
	term.sees("lifehub: ")
	if code := term.exits(); code == app.ExitDone {
		t.Error("it did not fail")
	}
	wroteNoEscape(term)
}
