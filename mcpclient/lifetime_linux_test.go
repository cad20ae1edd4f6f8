package mcpclient

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"lifehub/internal/mcptest"
	"lifehub/internal/testenv"
	"lifehub/mcpclient/config"
)

// host runs LifeHub's client with one server that has 50 children, half of which
// leave its process group. It prints "ready" and ends with its stdin.
func host() {
	background := context.Background()
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP) // ignored if the tests run under nohup
	go func() { <-hangup; os.Exit(1) }()
	server := bad("bad", "fork")
	server.Env[mcptest.Mark] = os.Getenv(mcptest.Mark)
	s := Start(background, config.Config{Servers: []config.Entry{server}}, Options{})
	_ = s.Wait(background)
	fmt.Println("ready", len(s.Tools()))
	_, _ = os.Stdin.Read(make([]byte, 1))
	s.Close()
	fmt.Println("closed")
	os.Exit(0)
}

// amidQuit names the case in which SIGKILL interrupts a regular exit.
const amidQuit = "SIGKILL amid the quit"

func TestQuitOrKilledLifeHubLeavesNoDescendant(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	rounds := 1
	if os.Getenv("LIFEHUB_SOAK") != "" {
		rounds = 100
	}
	for name, end := range map[string]func(*exec.Cmd){
		"quit":    func(*exec.Cmd) {},
		"SIGTERM": func(c *exec.Cmd) { _ = c.Process.Signal(syscall.SIGTERM) },
		"SIGHUP":  func(c *exec.Cmd) { _ = c.Process.Signal(syscall.SIGHUP) },
		"SIGKILL": func(c *exec.Cmd) { _ = c.Process.Kill() },
		amidQuit: func(c *exec.Cmd) {
			<-time.After(mathrand.N(100 * time.Millisecond))
			_ = c.Process.Kill()
		},
	} {
		t.Run(name, func(t *testing.T) {
			var slowest time.Duration
			for range rounds {
				mark := rand.Text()
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), hostName+"=1", mcptest.Mark+"="+mark)
				cmd.Stderr = os.Stderr
				in, out := mcptest.Start(t, cmd)
				lines := bufio.NewScanner(out)
				if !lines.Scan() || lines.Text() != "ready 1" {
					t.Fatalf("the host says %q", lines.Text())
				}
				if n := mcptest.Marked(mark, cmd.Process.Pid); n < 51 {
					t.Fatalf("%d processes before the end, want 51: the test shows nothing", n)
				}
				if name == "quit" || name == amidQuit {
					_ = in.Close()
				}
				if name == "quit" {
					if !lines.Scan() || lines.Text() != "closed" {
						t.Fatalf("the host says %q", lines.Text())
					}
					if n := mcptest.Marked(mark, cmd.Process.Pid); n > 0 {
						t.Errorf("%d processes left when Close returned", n)
					}
				}
				end(cmd)
				_ = cmd.Wait()
				slowest = max(slowest, mcptest.Gone(t, mark))
			}
			t.Logf("%d exits, 0 of 51 processes left, slowest %v", rounds, slowest.Round(time.Millisecond))
		})
	}
}

func TestCloseLeavesNothingAndRestartsLeaveNothing(t *testing.T) {
	t.Parallel()
	mark := rand.Text()
	server := bad("bad", "dies")
	server.Env[mcptest.Mark] = mark
	s := start(t, Options{}, server)
	_, _ = one(t, s, "bad_echo").Run(t.Context(), nil)
	_, _ = one(t, s, "bad_echo").Run(t.Context(), nil)
	s.Close()
	if n := mcptest.Marked(mark, 0); n > 0 {
		t.Errorf("%d processes left", n)
	}
}
