package mcptest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Mark is an environment variable of a server and its descendants in a test.
const Mark = "LIFEHUB_TEST_MARK"

// Marked counts the processes that have the mark, without the process except.
func Marked(mark string, except int) int {
	n := 0
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err == nil && bytes.Contains(env, []byte(Mark+"="+mark)) &&
			!strings.Contains(file, fmt.Sprintf("/%d/", except)) {
			n++
		}
	}
	return n
}

// Gone waits until no process has the mark, and returns how long that took. Only
// in make soak is the limit 3 s, since elsewhere the machine may be busy.
func Gone(t testing.TB, mark string) time.Duration {
	t.Helper()
	bound := 30 * time.Second
	if os.Getenv("LIFEHUB_SOAK") != "" {
		bound = 3 * time.Second
	}
	began := time.Now()
	for Marked(mark, 0) > 0 {
		if time.Since(began) > bound {
			t.Fatalf("%d processes left after %v", Marked(mark, 0), bound)
		}
		<-time.After(10 * time.Millisecond)
	}
	return time.Since(began)
}
