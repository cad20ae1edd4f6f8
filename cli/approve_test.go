//go:build unix

package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"lifehub/internal/apptest"
)

func TestApproveInTheChatAndInAsk(t *testing.T) {
	t.Parallel()
	vault := apptest.Vault(t)
	output, err := offScreen(t, "ask", "--approve", "--notes", vault, "what do I know about shoes?").CombinedOutput()
	if err == nil || !strings.Contains(string(output), "--approve=false") {
		t.Errorf("%v: %s", err, output)
	}

	home := t.TempDir()
	apptest.Write(t, filepath.Join(home, "config", "config.yaml"), "approve: true\n")
	env := []string{"LIFEHUB_APPROVE=true", "LIFEHUB_PROVIDER=offline"}
	unseen := offScreen(t, "ask", "--approve=false", "--notes", vault, "what do I know about running?")
	unseen.Env = append(unseen.Env, env...)
	if output, err := unseen.Output(); err != nil || !strings.Contains(string(output), "three times a week") {
		t.Errorf("%v: %s", err, output)
	}

	term := startTerminal(t, 100, 34, []string{"LIFEHUB_PROVIDER=offline", "LIFEHUB_HOME=" + home}, "chat", "--notes", vault)
	term.sees("2 notes")
	term.types("what do I know about running?\r")
	term.sees("Run this plan?", "1 search_notes", "▌y Run▐")
	term.waits(func(screen string) bool { return !strings.Contains(screen, "wait…") }, "the end of the quiet period")
	term.types("n\r")
	term.sees("Not run: you declined the plan.")
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
	term.sees("each plan is shown before it runs")
	term.types("what do I know about running?\r")
	term.sees("Run this plan?")
}
