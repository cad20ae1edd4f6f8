package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lifehub/internal/apptest"
	"lifehub/internal/mcptest"
	"lifehub/internal/testenv"
)

// beginsBadly are ways to misbehave before any call; calledBadly are those triggered by a call.
var (
	beginsBadly = []string{"crash", "hang", "sleep", "banner", "closed", "pages", "schemas", "silent", "fork", "deaf"}
	calledBadly = []string{
		"huge", "flood", "stderr", "garbage", "asks", "ids", "dies", "half", "mute",
		"wrong", "deafstdin", "long",
	}
)

// TestTheChatAnswersKeysWhileServersMisbehave runs 22 servers at once, each misbehaving in a
// different way, and types while they are called.
func TestTheChatAnswersKeysWhileServersMisbehave(t *testing.T) {
	begins, called := beginsBadly, calledBadly
	if testenv.Race { // it makes each start of a server ten times slower
		begins, called = []string{"crash", "hang"}, []string{"flood", "asks", "dies"}
	}
	servers := map[string]any{"good": badServer("ok")}
	for _, mode := range slices.Concat(begins, called) {
		servers[mode] = badServer(mode)
	}
	mcp, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		t.Fatal(err)
	}
	home, vault := t.TempDir(), t.TempDir()
	apptest.Write(t, filepath.Join(home, "config", "mcp.json"), string(mcp))
	apptest.Write(t, filepath.Join(vault, "a.md"), "# Rowing\n\nI row.\n")

	quiet := startTerminal(t, 100, 30, nil, "chat", "--notes", vault)
	quiet.sees("1 note")
	usual := quiet.latencies(1, 60)
	before := residentOf(t, quiet.cmd.Process.Pid)
	quiet.types("\x15\x04")
	quiet.exits()

	term := startTerminal(t, 100, 30, []string{"LIFEHUB_HOME=" + home}, "chat", "--notes", vault)
	term.sees("1 note")
	most := residentOf(t, term.cmd.Process.Pid)
	late := term.latencies(2, 40) // while the servers start
	for round, mode := range called {
		term.types("\x15@" + mode + "_echo text=hi\r")
		late = append(late, term.latencies(round+3, 25)...)
		most = max(most, residentOf(t, term.cmd.Process.Pid))
		term.types("\x15")
		term.waits(func(screen string) bool {
			if strings.Contains(screen, "esc stop") { // a turn is running
				term.types("\x1b")
				return false
			}
			return true
		}, "shows the end of the turn")
	}
	term.types("\x15@good_echo text=marmalade\r")
	term.sees("\"text\":\"marmalade\"")

	p99 := percentileOf(late, 99)
	t.Logf("%d keys: p50 %v, p99 %v, longest %v; p99 without servers %v; memory %d MB more (%d MB in all)",
		len(late), percentileOf(late, 50), p99, slices.Max(late), percentileOf(usual, 99), (most-before)>>20, most>>20)
	if grown := most - before; grown > 100<<20 && !testenv.Race {
		t.Errorf("%d MB more, the bound is 100", grown>>20)
	}
	bound := 2 * time.Second // allows for a busy machine
	if os.Getenv("LIFEHUB_SOAK") != "" {
		bound = 100 * time.Millisecond
	}
	if p99 > bound {
		t.Errorf("a key took %v (p99), the bound is %v", p99, bound)
	}
}

// badServer returns an entry of mcp.json that runs this test binary.
func badServer(mode string) map[string]any {
	return map[string]any{
		"command": os.Args[0], "permission": "auto", "timeout": 3,
		"env": map[string]string{mcptest.Mode: mode, "GORACE": "atexit_sleep_ms=0"},
	}
}

// latencies types n characters and returns how long each took to appear on the screen. round
// distinguishes them from those typed before.
func (term *terminal) latencies(round, n int) []time.Duration {
	term.t.Helper()
	var took []time.Duration
	typed := ""
	for i := range n {
		typed += string(rune('A' + (round*7+i*(round+1))%26))
		began := time.Now()
		term.types(typed[i:])
		term.waits(func(screen string) bool { return strings.Contains(screen, typed) }, "shows "+typed)
		took = append(took, time.Since(began))
	}
	return took
}

func percentileOf(list []time.Duration, p int) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[(len(sorted)*p+99)/100-1]
}

// residentOf returns the resident memory of a process in bytes.
func residentOf(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
