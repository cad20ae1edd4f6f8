package terminal

import (
	"os/exec"
	"testing"
	"time"
)

// An editor that hands its file to a running window ends at once.
func TestAQuickEditorKeepsTheTerminalLongEnough(t *testing.T) {
	quick := &Visit{Command: exec.Command("true")}
	start := time.Now()
	if err := quick.Run(); err != nil {
		t.Skipf("needs the command true: %v", err)
	}
	if took := time.Since(start); took < shortestVisit {
		t.Errorf("the terminal is taken back after %v: the renderer's ticker may still be stopped", took)
	}
}
