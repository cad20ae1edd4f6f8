//go:build unix

package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"lifehub/cli/app"
	"lifehub/internal/apptest"
)

func TestApproveInTheChatAndInAsk(t *testing.T) {
	t.Parallel()
	vault := apptest.Vault(t)
	home := t.TempDir()
	apptest.Write(t, filepath.Join(home, "config", "config.yaml"), "approve: true\n")
	unseen := offScreen(t, "ask", "--notes", vault, "what do I know about running?")
	unseen.Env = append(unseen.Env, "LIFEHUB_APPROVE=true", "LIFEHUB_PROVIDER=offline")
	if output, err := unseen.CombinedOutput(); err != nil || !strings.Contains(string(output), "three times a week") ||
		!strings.Contains(string(output), "Nobody is here") {
		t.Errorf("%v: %s", err, output)
	}
	unseen = offScreen(t, "ask", "--notes", vault, "/task buy socks")
	unseen.Env = append(unseen.Env, "LIFEHUB_APPROVE=true", "LIFEHUB_PROVIDER=offline")
	if output, err := unseen.CombinedOutput(); err == nil || unseen.ProcessState.ExitCode() != app.ExitRefused ||
		!strings.Contains(string(output), "--allow") {
		t.Errorf("%v: %s", err, output)
	}

	term := startTerminal(t, 100, 34, []string{"LIFEHUB_PROVIDER=offline", "LIFEHUB_HOME=" + home},
		"chat", "--notes", vault)
	term.sees("2 notes")
	term.types("what do I know about running?\r")
	term.sees("Run this plan?", "1 search_notes", "▌y Run▐")
	term.waits(func(screen string) bool { return !strings.Contains(screen, "wait…") }, "the end of the quiet period")
	term.types("n\r")
	term.sees("Not run")
	term.types("what do I know about running?\r")
	term.sees("Run this plan?", "▌y Run▐")
	term.waits(func(screen string) bool { return !strings.Contains(screen, "wait…") }, "the end of the quiet period")
	term.types("\r")
	term.sees("three times a week")
	term.types("/approve off\r")
	term.sees("Approval is off")
	term.types("what do I know about running?\r")
	term.waits(func(screen string) bool { return strings.Count(screen, "running.md:3") == 2 }, "the second answer")
	term.types("/approve\r")
	term.sees("/approve off")
	term.types("what do I know about running?\r")
	term.sees("Run this plan?")
}
