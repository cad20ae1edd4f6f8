package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"lifehub/internal/testenv"
)

// letters are characters that a program does not print by itself.
var letters = strings.Split("ЖБГДФЦЧШЩЭЮЯЛПИЙжбгдфцчшщэюялпий", "")

// typist types at a program in a terminal and reads its output.
type typist struct {
	t   *testing.T
	pty *os.File

	mu      sync.Mutex
	painted []byte
	more    chan struct{} // receives when there are new bytes; closed at the end
}

// typeAt starts a program in an empty home. It is killed when the test ends.
func typeAt(t *testing.T, env []string, command ...string) *typist {
	t.Helper()
	home := t.TempDir()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = home
	cmd.Env = append([]string{
		"HOME=" + home, "LIFEHUB_HOME=" + filepath.Join(home, ".lifehub"),
		"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8",
	}, env...)
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		t.Fatal(err)
	}
	y := &typist{t: t, pty: screen, more: make(chan struct{}, 1)}
	go y.read()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		for range y.more { // until all is read
		}
		screen.Close()
	})
	return y
}

func (y *typist) read() {
	defer close(y.more)
	buffer := make([]byte, 64<<10)
	for {
		n, err := y.pty.Read(buffer)
		y.mu.Lock()
		y.painted = append(y.painted, buffer[:n]...)
		y.mu.Unlock()
		select {
		case y.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (y *typist) length() int {
	y.mu.Lock()
	defer y.mu.Unlock()
	return len(y.painted)
}

func (y *typist) hasPainted(text string, since int) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return bytes.Contains(y.painted[since:], []byte(text))
}

// sees waits until a text appears after offset since, and returns how many ms that took.
func (y *typist) sees(text string, since int) float64 {
	y.t.Helper()
	began, deadline := time.Now(), time.After(time.Minute)
	for !y.hasPainted(text, since) {
		select {
		case <-deadline:
			y.t.Fatalf("%q was not painted within a minute", text)
		case _, open := <-y.more:
			if !open && !y.hasPainted(text, since) {
				y.t.Fatalf("the program ended before it painted %q", text)
			}
		}
	}
	return time.Since(began).Seconds() * 1000
}

func (y *typist) press(keys string) {
	y.t.Helper()
	if _, err := y.pty.WriteString(keys); err != nil {
		y.t.Fatal(err)
	}
}

// keys asks a question and types 225 characters, 40 ms apart, while it is answered. It returns the
// sorted times in ms until each appeared.
func (y *typist) keys(prompt string) (took []float64) {
	y.t.Helper()
	y.sees(prompt, 0)
	since := y.length()
	y.press("Please explain the parts BENCHQ")
	y.sees("Q", since)
	y.press("\r")
	tick := time.NewTicker(40 * time.Millisecond)
	defer tick.Stop()
	for i := range 225 {
		<-tick.C
		at, letter := y.length(), letters[i%len(letters)]
		y.press(letter)
		took = append(took, y.sees(letter, at))
		y.press("\x7f")
	}
	slices.Sort(took)
	return took
}

// A character appears at once while five tools run, while an answer of 900 tokens streams at 100
// per second, and while 10,000 notes are being indexed: by the chat, whose index was deleted. The
// bare program runs next to `lifehub index --rebuild`.
func TestSpeedOfKeys(t *testing.T) {
	testenv.WithoutRace(t)
	speed(t)
	b := newBench(t)
	home := filepath.Join(b.dir, "home")
	fillHome(t, b, home)
	address := slowModel(t, b)

	other := exec.Command(b.program, "index", "--rebuild")
	other.Env = append(os.Environ(), "LIFEHUB_HOME="+home, "OLLAMA_HOST=127.0.0.1:1")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	bare := typeAt(t, nil, filepath.Join(b.dir, "bareref"), address).keys(">")
	if err := other.Wait(); err != nil {
		t.Fatalf("index next to the bare program: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(home, "data", "index")); err != nil {
		t.Fatal(err)
	}
	chat := typeAt(t, []string{"OLLAMA_HOST=" + address, "LIFEHUB_HOME=" + home}, b.program, "chat", "-m", "bench")
	ours := chat.keys("anything")

	at := func(list []float64, percent int) float64 { return list[(len(list)*percent-1)/100] }
	bars := newBars(t)
	bars.alone(fmt.Sprintf("key to paint, p99 of %d keys", len(ours)), at(ours, 99), at(bare, 99), 16, " ms")
	for _, percent := range []int{50, 90, 100} {
		bars.show(fmt.Sprintf("key to paint, p%d", percent), at(ours, percent), at(bare, percent), " ms")
	}
}

// slowModel starts a model server that plans five searches, and returns its address.
func slowModel(t *testing.T, b bench) string {
	t.Helper()
	var steps []string
	for i := range 5 {
		steps = append(steps, fmt.Sprintf(`{"id":"%d","tool":"search_notes","input":{"query":"subject %d"}}`, i+1,
			11*i))
	}
	plan := `{"reasoning":"five searches","steps":[` + strings.Join(steps, ",") + `]}`
	server := exec.Command(filepath.Join(b.dir, "modelserver"), "-tokens", "900", "-pace", "100", "-plan", plan)
	out, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(address)
}
