//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"lifehub/cli/version"
	"lifehub/internal/testenv"
)

// initialised is what a package did before main.
type initialised struct {
	of     string
	ms     float64
	memory int // bytes
}

// inits runs a program for a short answer and tells what its packages did first.
func inits(t *testing.T, program, ask string, env ...string) (list []initialised) {
	t.Helper()
	var trace bytes.Buffer
	cmd := exec.Command(program, ask)
	cmd.Env, cmd.Stderr = append(append(os.Environ(), "GODEBUG=inittrace=1"), env...), &trace
	if err := cmd.Run(); err != nil {
		t.Fatalf("run with %s: %v\n%s", ask, err, trace.String())
	}
	for line := range strings.Lines(trace.String()) {
		// init time @1.2 ms, 0.03 ms clock, 4568 bytes 12 allocs
		name, rest, ok := strings.Cut(strings.TrimPrefix(line, "init "), " @")
		var i initialised
		var at float64
		if !ok {
			continue
		}
		if _, err := fmt.Sscanf(rest, "%f ms, %f ms clock, %d bytes", &at, &i.ms, &i.memory); err == nil {
			i.of = name
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		t.Fatalf("no trace of inits:\n%s", trace.String())
	}
	return list
}

// What a package does before main, every start pays. Memory
// stands for time here, as it is the same on a busy machine; `make speed` has
// the times.
func TestNoPackageDoesMuchBeforeMain(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	const (
		one = 2 << 20   // jsonschema, which comes with mcp-go, takes 1.7 MB
		own = 128 << 10 // of ours: lists of words, mostly; patterns are compiled at their first use
	)
	for _, i := range inits(t, os.Args[0], "--help", runAsProgram) {
		if strings.HasPrefix(i.of, "lifehub/internal/") || i.of == "lifehub/cli" { // the tests' own
			continue
		}
		if strings.HasPrefix(i.of, "lifehub/") && i.memory > own {
			t.Errorf("%s takes %d kB before main; %d kB is the most for a room of ours", i.of, i.memory>>10, own>>10)
		}
		if i.memory > one {
			t.Errorf("%s takes %d kB before main; %d kB is the most", i.of, i.memory>>10, one>>10)
		}
	}
}

// Collections stop all threads and wake workers: they were a quarter of a start.
func TestAStartCollectsNothing(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	var trace bytes.Buffer
	cmd := exec.Command(os.Args[0], "models", "--help")
	cmd.Env, cmd.Stderr = append(os.Environ(), "GODEBUG=gctrace=1", "GOGC=", runAsProgram), &trace
	if err := cmd.Run(); err != nil || strings.Contains(trace.String(), "gc 1 @") {
		t.Errorf("the help is told with %v and these collections:\n%s", err, trace.String())
	}
}

// The order of the inits is that of the paths: a longer list of imports would
// put the answer behind the packages that take the time.
func TestTheVersionIsToldBeforeTheRestIsMadeReady(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	before := inits(t, os.Args[0], "--version", runAsProgram)
	for _, slow := range []string{"reflect", "github.com/santhosh-tekuri/jsonschema/v6", "github.com/yuin/goldmark/extension", "lifehub/agent", "lifehub/cli"} {
		if slices.ContainsFunc(before, func(i initialised) bool { return i.of == slow }) {
			t.Errorf("%s is made ready first", slow)
		}
	}
	if told, err := exec.Command(os.Args[0], "--version").Output(); string(told) != "lifehub version "+version.Text()+"\n" || err != nil {
		t.Errorf("it says %q, %v", told, err)
	}
}
