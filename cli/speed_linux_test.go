package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/internal/testenv"
	"lifehub/store"
)

// The tests in this file measure the program from outside, next to a bare Bubble Tea program
// (../shared/peerbench), and fail if a limit is exceeded. `make speed` runs them; the machine must
// be idle.
func speed(t *testing.T) {
	t.Helper()
	if os.Getenv("LIFEHUB_SPEED") == "" {
		t.Skip("LIFEHUB_SPEED=1 measures the speed (make speed)")
	}
}

// rounds returns how often each program is run; the median counts.
func rounds(usual int) int {
	n, err := strconv.Atoi(os.Getenv("LIFEHUB_SPEED_ROUNDS"))
	if err != nil {
		return usual
	}
	return n
}

// figures are the results of a run of runpeer, by name.
type figures map[string]any

func (f figures) of(name string) float64 { v, _ := f[name].(float64); return v }

// peer is an entry of the programs that runpeer starts.
type peer struct {
	Name  string            `json:"name"`
	Cmd   []string          `json:"cmd"`
	Ready string            `json:"ready"`
	Env   map[string]string `json:"env,omitempty"`
	Quit  string            `json:"quit,omitempty"`
}

// bench is the built harness of peerbench and the program as shipped.
type bench struct{ dir, program string }

func newBench(t *testing.T) bench {
	t.Helper()
	source := testenv.Shared(t, "peerbench")
	b := bench{dir: t.TempDir()}
	b.program = filepath.Join(b.dir, "lifehub")
	build(t, source, "-o", b.dir+"/", "./modelserver", "./runpeer", "./bareref")
	build(t, testenv.Root(t), "-o", b.program, ".")
	return b
}

// build builds a program as `make build` does.
func build(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"build", "-trimpath", "-ldflags", "-s -w"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build in %s: %v\n%s", dir, err, out)
	}
}

func (b bench) bare() peer {
	return peer{Name: "bare", Cmd: []string{filepath.Join(b.dir, "bareref"), "{URL}"}, Ready: `^\s*\n?>`, Quit: "\x03"}
}

// lifehub returns the program in a home; "{HOME}" is a fresh one for each run.
func (b bench) lifehub(name, home string, args ...string) peer {
	return peer{
		Name: name, Cmd: append([]string{b.program, "chat", "-m", "bench"}, args...), Ready: "anything",
		Env: map[string]string{"OLLAMA_HOST": "{URL}", "LIFEHUB_HOME": home},
	}
}

// run runs the programs in turn, several times each, and returns the median of every figure by
// program.
func (b bench) run(t *testing.T, peers []peer, args ...string) map[string]figures {
	t.Helper()
	config, out := filepath.Join(b.dir, "peers.json"), filepath.Join(t.TempDir(), "results.jsonl")
	list, err := json.Marshal(peers)
	if err == nil {
		err = os.WriteFile(config, list, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	args = append([]string{
		filepath.Join(b.dir, "runpeer"), "-peers", config, "-server", filepath.Join(b.dir, "modelserver"),
		"-work", filepath.Join(b.dir, "work"), "-out", out, "-limit", "60s",
	}, args...)
	// If allowed, use a network with only loopback, so that nothing waits for name resolution.
	if exec.Command("unshare", "-n", "true").Run() == nil {
		args = append([]string{"unshare", "-n", "sh", "-c", `ip link set lo up; exec "$@"`, "sh"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("runpeer: %v\n%s", err, text)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string][]figures{}
	for line := range bytes.Lines(data) {
		var f figures
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatal(err)
		}
		name, _ := f["Peer"].(string)
		if f["Error"] != nil {
			t.Fatalf("%s: %v", name, f["Error"])
		}
		runs[name] = append(runs[name], f)
	}
	medians := map[string]figures{}
	for name, list := range runs {
		medians[name] = figures{}
		for key, v := range list[0] {
			if _, ok := v.(float64); ok {
				medians[name][key] = median(list, func(f figures) float64 { return f.of(key) })
			}
		}
	}
	return medians
}

func median[T any](list []T, of func(T) float64) float64 {
	values := make([]float64, len(list))
	for i, one := range list {
		values[i] = of(one)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// bars prints a table of measurements and fails if one exceeds its limit.
type bars struct {
	t     *testing.T
	table strings.Builder
}

func newBars(t *testing.T) *bars {
	b := &bars{t: t}
	b.table.WriteString("\n| what | LifeHub | bare | measured | bar | |\n|---|---:|---:|---:|---:|---|\n")
	t.Cleanup(func() { t.Log(b.table.String()) })
	return b
}

// most sets an absolute limit for a figure.
func (b *bars) most(what string, ours, bare string, measured, bar float64, unit string) {
	verdict := "met"
	if measured > bar || math.IsNaN(measured) {
		verdict = "NOT MET"
		b.t.Errorf("%s: %.2f%s, the bar is %g%s", what, measured, unit, bar, unit)
	}
	fmt.Fprintf(&b.table, "| %s | %s | %s | %.2f%s | %g%s | %s |\n", what, ours, bare, measured,
		unit, bar, unit, verdict)
}

// times limits a figure to a multiple of the bare program's.
func (b *bars) times(what string, ours, bare float64, unit string, bar float64) {
	b.most(what, fmt.Sprintf("%.4g%s", ours, unit), fmt.Sprintf("%.4g%s", bare, unit), ours/bare, bar, " x")
}

func (b *bars) alone(what string, ours, bare, bar float64, unit string) {
	b.most(what, fmt.Sprintf("%.1f%s", ours, unit), fmt.Sprintf("%.1f%s", bare, unit), ours, bar, unit)
}

// show prints a figure that has no limit.
func (b *bars) show(what string, ours, bare float64, unit string) {
	fmt.Fprintf(&b.table, "| %s | %.1f%s | %.1f%s | | | |\n", what, ours, unit, bare, unit)
}

// An answer of 2,000 tokens at 200 per second.
func TestSpeedOfAnAnswer(t *testing.T) {
	testenv.WithoutRace(t)
	speed(t)
	b := newBench(t)
	peers := []peer{b.bare(), b.lifehub("lifehub", "{HOME}/lifehub", "--notes", "{CWD}")}
	got := b.run(t, peers, "-reps", strconv.Itoa(rounds(3)), "-tokens", "2000", "-pace", "200", "-idle", "10")
	ours, bare := got["lifehub"], got["bare"]
	bars := newBars(t)
	const mb = 1 << 20
	bars.times("CPU", ours.of("StreamCPU"), bare.of("StreamCPU"), " s", 1.3)
	bars.alone("CPU, idle", ours.of("IdleCPU"), bare.of("IdleCPU"), 1, " %")
	bars.alone("memory, peak", ours.of("PeakRSS")/mb, bare.of("PeakRSS")/mb, 60, " MB")
	bars.alone("half-empty screens", ours.of("Dips"), bare.of("Dips"), 0, "")
	bars.alone("marks not seen", ours.of("MarksSent")-ours.of("MarksSeen"),
		bare.of("MarksSent")-bare.of("MarksSeen"), 0, "")
	bars.alone("marks seen twice", ours.of("Doubled"), bare.of("Doubled"), 0, "")
	bars.show("memory, idle", ours.of("IdleRSS")/mb, bare.of("IdleRSS")/mb, " MB")
	bars.show("lag p95", ours.of("LagP95"), bare.of("LagP95"), " ms")
	bars.show("end", ours.of("EndMS"), bare.of("EndMS"), " ms")
	bars.show("worst key", ours.of("KeyStreamMax"), bare.of("KeyStreamMax"), " ms")
}

// The first frame, with 10,000 notes and 1,000 conversations on disk.
func TestSpeedOfTheStart(t *testing.T) {
	testenv.WithoutRace(t)
	speed(t)
	b := newBench(t)
	home := filepath.Join(b.dir, "home")
	fillHome(t, b, home)
	peers := []peer{b.bare(), b.lifehub("lifehub", home)}
	got := b.run(t, peers, "-reps", strconv.Itoa(rounds(7)), "-tokens", "40", "-pace", "0", "-idle",
		"2", "-settle", "1500ms")
	bars := newBars(t)
	ours, bare := got["lifehub"].of("ReadyMS"), got["bare"].of("ReadyMS")
	bars.alone("first frame", ours, bare, 100, " ms")
	bars.times("first frame, next to the bare program", ours, bare, " ms", 2)
}

// fillHome fills a home with 10,000 indexed notes and 1,000 conversations.
func fillHome(t *testing.T, b bench, home string) {
	t.Helper()
	vault := filepath.Join(b.dir, "vault")
	for i := range 10_000 {
		dir := filepath.Join(vault, fmt.Sprintf("folder %02d", i%100))
		err := os.MkdirAll(dir, 0o700)
		if err == nil {
			text := fmt.Sprintf("# Note %d\n\nSomething about subject %d, with [[Note %d]] beside it.\n\n## "+
				"More\n\n%s\n", i, i%97, i/2, strings.Repeat("Words of a note, as they come. ", 12))
			err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("Note %d.md", i)), []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(b.program, "index", vault)
	cmd.Env = append(os.Environ(), "LIFEHUB_HOME="+home, "OLLAMA_HOST=127.0.0.1:1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("index: %v\n%s", err, out)
	}
	s, err := store.Open(filepath.Join(home, "data", "lifehub.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range 1000 {
		turn, err := s.Begin(t.Context(), s.NewConversation(), fmt.Sprintf("Question %d: how often do I run?", i))
		if err == nil {
			err = s.Finish(t.Context(), turn, agent.Answer{Text: "Three times a week. " +
				strings.Repeat("More words follow. ", 40)})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
