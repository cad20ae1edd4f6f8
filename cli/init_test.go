//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"lifehub/internal/testenv"
)

// inits returns how many bytes each package of the program allocates before main.
func inits(t *testing.T) map[string]int {
	t.Helper()
	var trace bytes.Buffer
	cmd := exec.Command(os.Args[0], "--help")
	cmd.Env, cmd.Stderr = append(os.Environ(), "GODEBUG=inittrace=1", runAsProgram), &trace
	if err := cmd.Run(); err != nil {
		t.Fatalf("show the help: %v\n%s", err, trace.String())
	}
	taken := map[string]int{}
	for line := range strings.Lines(trace.String()) {
		var name string
		var at, took float64
		var size int
		if _, err := fmt.Sscanf(line, "init %s @%f ms, %f ms clock, %d bytes", &name, &at, &took, &size); err == nil {
			taken[name] = size
		}
	}
	if len(taken) == 0 {
		t.Fatalf("no trace of inits:\n%s", trace.String())
	}
	return taken
}

// Every start pays for what a package does before main. Memory stands for
// time, because it is the same on a busy machine.
func TestNoPackageDoesMuchBeforeMain(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	const (
		one = 2 << 20   // jsonschema, which comes with mcp-go, takes 1.7 MB
		own = 128 << 10 // of ours: lists of words, mostly; patterns are compiled at their first use
	)
	for name, size := range inits(t) {
		if strings.HasPrefix(name, "lifehub/internal/") || name == "lifehub/cli" { // the tests' own
			continue
		}
		if strings.HasPrefix(name, "lifehub/") && size > own {
			t.Errorf("%s takes %d kB before main; %d kB is the most for a package of ours", name, size>>10, own>>10)
		}
		if size > one {
			t.Errorf("%s takes %d kB before main; %d kB is the most", name, size>>10, one>>10)
		}
	}
}
