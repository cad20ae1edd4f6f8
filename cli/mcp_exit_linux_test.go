package cli

import (
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"lifehub/internal/apptest"
	"lifehub/internal/mcptest"
	"lifehub/internal/testenv"
)

// TestEndedChatLeavesNoDescendantOfItsServers ends the chat in a terminal in each possible way,
// with a server that has 50 children, half of them in other process groups.
func TestEndedChatLeavesNoDescendantOfItsServers(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	rounds := 1
	if os.Getenv("LIFEHUB_SOAK") != "" {
		rounds = 25
	}
	for name, end := range map[string]func(*terminal){
		"quit":    func(term *terminal) { term.types("\x04") },
		"SIGTERM": func(term *terminal) { _ = term.cmd.Process.Signal(syscall.SIGTERM) },
		"SIGHUP":  func(term *terminal) { _ = term.cmd.Process.Signal(syscall.SIGHUP) },
		"SIGKILL": func(term *terminal) { _ = term.cmd.Process.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			var slowest time.Duration
			for range rounds {
				mark := rand.Text()
				server := badServer("fork")
				server["env"].(map[string]string)[mcptest.Mark] = mark
				config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"fork": server}})
				if err != nil {
					t.Fatal(err)
				}
				home := t.TempDir()
				apptest.Write(t, filepath.Join(home, "config", "mcp.json"), string(config))
				term := startTerminal(t, 100, 30, []string{"LIFEHUB_HOME=" + home}, "chat", "--notes", t.TempDir())
				term.sees("anything")
				for began := time.Now(); mcptest.Marked(mark, 0) < 51; <-time.After(20 * time.Millisecond) {
					if time.Since(began) > patience {
						t.Fatalf("%d processes, want 51: the test shows nothing", mcptest.Marked(mark, 0))
					}
				}
				end(term)
				term.exits()
				slowest = max(slowest, mcptest.Gone(t, mark))
			}
			t.Logf("%d exits, 0 of 51 processes left, slowest %v", rounds, slowest.Round(time.Millisecond))
		})
	}
}
