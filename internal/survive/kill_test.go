//go:build unix

package survive

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lifehub/internal/testenv"

	"lifehub/notes"
	"lifehub/store"
)

// seeded returns the test's random source; LIFEHUB_SEED repeats a failing run.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("LIFEHUB_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
	}
	t.Logf("LIFEHUB_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// childOutput is the output of a child before it ended.
type childOutput struct {
	lines  []string
	stderr string
	killed bool
	over   int64 // number of boundaries passed, if it ended regularly
}

// run runs a child and kills it after a while, counted from its first output; if
// while is 0, it lets the child finish.
func run(t *testing.T, o orders, while time.Duration, atStart bool) childOutput {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	command := append(slices.Clone(o.Strace), os.Args[0])
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), ordersEnv+"="+string(text), "GORACE=atexit_sleep_ms=0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := func() { time.AfterFunc(while, func() { _ = cmd.Process.Kill() }) }
	if while > 0 && atStart {
		kill()
	}
	ended := make(chan struct{})
	defer close(ended)
	go func() { // ends with run
		select {
		case <-o.KillOn:
			_ = cmd.Process.Kill()
		case <-ended:
		}
	}()
	var result childOutput
	reader := bufio.NewReader(out)
	for {
		line, err := reader.ReadString('\n')
		if err != nil { // the kill interrupted an incomplete line
			break
		}
		if while > 0 && !atStart && len(result.lines) == 0 {
			kill()
		}
		line = strings.TrimSuffix(line, "\n")
		if boundaries, ok := strings.CutPrefix(line, "OVER "); ok {
			result.over, _ = strconv.ParseInt(boundaries, 10, 64)
			continue
		}
		result.lines = append(result.lines, line)
	}
	err = cmd.Wait()
	result.killed = result.over == 0
	result.stderr = stderr.String()
	if o.Fault == "" && result.stderr != "" {
		t.Fatalf("the child says: %s\nafter %v", result.stderr, result.lines)
	}
	if result.killed && err == nil {
		t.Fatal("the child ended without a word")
	}
	return result
}

// ledger records what was acknowledged to the user over the life of a data
// directory.
type ledger struct {
	orders
	failing                   bool // steps may fail if that is reported
	messages, unknown, failed int
	answered                  map[int]bool    // by number of the message; one in between may have failed
	done                      map[string]bool // "7 2": step 2 of turn 7
}

func newLedger(o orders) *ledger {
	return &ledger{orders: o, answered: map[int]bool{}, done: map[string]bool{}}
}

func (l *ledger) add(t *testing.T, lines []string) (acknowledged int) {
	t.Helper()
	for _, line := range lines {
		words := strings.Fields(line)
		number, err := strconv.Atoi(words[1])
		if err != nil {
			t.Fatalf("the child says %q", line)
		}
		switch words[0] {
		case "M":
			l.messages = max(l.messages, number)
		case "A":
			l.answered[number] = true
		case "?":
			l.unknown++
		case "S":
			if words[3] != "done" {
				if !l.failing {
					t.Fatalf("a step did not work: %s", line)
				}
				l.failed++
				continue
			}
			l.done[words[1]+" "+words[2]] = true
		}
		acknowledged++
	}
	return acknowledged
}

// check compares the saved data with what was acknowledged.
func (l *ledger) check(t *testing.T) (opened time.Duration) {
	t.Helper()
	dir := l.Dir
	began := time.Now()
	s, err := store.Open(database(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	list, err := s.Exchanges(t.Context(), l.Name)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := notes.Open(vault(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if _, _, err := folder.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	opened = time.Since(began)
	if len(list) < l.messages || len(list) > l.messages+1 {
		t.Fatalf("%d messages are kept, %d were acknowledged", len(list), l.messages)
	}
	for i, e := range list {
		number := i + 1
		question := question(l.orders, number)
		if e.Question != question {
			t.Fatalf("message %d reads %q", number, e.Question)
		}
		if l.answered[number] && (e.Open || e.Answer.Text != answerTo(question)) {
			t.Fatalf("answer %d was acknowledged; it is open %t and reads %q", number, e.Open, e.Answer.Text)
		}
		found, err := look(dir, question)
		if err != nil {
			t.Fatal(err)
		}
		for step, count := range map[string]int{
			"1": found.Task, "2": found.Log, "3": found.Note,
			"4": found.Ticked, "5": found.Fact,
		} {
			if count > 1 {
				t.Fatalf("step %s of turn %d is there %d times", step, number, count)
			}
			if count == 0 && l.done[fmt.Sprintf("%d %s", number, step)] {
				t.Fatalf("step %s of turn %d was acknowledged and is not there", step, number)
			}
		}
	}
	return opened
}

func sound(t *testing.T, dir string) {
	t.Helper()
	db, err := sql.Open("sqlite", database(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var report string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&report); err != nil || report != "ok" {
		t.Fatalf("the database: %q, %v", report, err)
	}
}

// Line 1: a chat that adds tasks, writes notes and remembers is killed at random
// moments, repeatedly, and each time resumes what was interrupted.
func TestKillLosesAndDuplicatesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	kills := testenv.Rounds(16, 10_000)
	const perFolder = 40 // kills per folder, so that each folder stays small
	random := seeded(t)
	var dir string
	var known *ledger
	var acknowledged, unknown, turns int
	var slowest, took time.Duration // longest opening, and duration of a complete turn
	for kill := range kills {
		if kill%perFolder == 0 {
			dir = t.TempDir()
			known = newLedger(orders{Dir: dir, Work: "chat", Name: "c"})
			furnish(t, dir)
			first := known.orders
			first.Turns = 1
			began := time.Now()
			known.add(t, run(t, first, 0, false).lines)
			took = time.Since(began)
		}
		while := 1 + time.Duration(random.Int64N(int64(took)+int64(120*time.Millisecond)))
		output := run(t, known.orders, while, kill%4 == 0)
		acknowledged += known.add(t, output.lines)
		slowest = max(slowest, known.check(t))
		if kill%10 == 9 || kill == kills-1 {
			sound(t, dir)
		}
		if (kill+1)%perFolder == 0 || kill == kills-1 {
			unknown += known.unknown
			turns += len(known.answered) - 1 // the first turn was not killed
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d kills, %d items acknowledged in %d whole turns, 0 lost, 0 doubled; asked about %d times; slowest "+
		"opening %v", kills, acknowledged, turns, unknown, slowest)
	if turns == 0 {
		t.Error("no turn came to its end between the kills: the test shows little")
	}
}

// Line 2: a turn with six effects is killed at each of its boundaries, in order
// and at random. The process that resumes it is killed too.
func TestKilledTurnDoesEachEffectOnceOrAsks(t *testing.T) {
	t.Parallel()
	kills := testenv.Rounds(10, 600)
	random := seeded(t)
	port, letters := startPost(t)
	begin := func(skip bool) orders {
		dir := t.TempDir()
		furnish(t, dir)
		if err := os.WriteFile(filepath.Join(dir, "mcp.json"), mcpConfig(t, dir), 0o600); err != nil {
			t.Fatal(err)
		}
		letters(mailbox(dir))
		return orders{Dir: dir, Work: "six", Name: "c", Turns: 1, SMTP: port, Skip: skip, Steps: "chain"}
	}
	whole := begin(false)
	began := time.Now()
	first := run(t, whole, 0, false)
	took := time.Since(began)
	want := once(t, whole.Dir, nil)
	boundaries := first.over
	if boundaries < 30 {
		t.Fatalf("a whole turn passes %d boundaries", boundaries)
	}

	killed, asked, skipped := 0, 0, 0
	for try := 0; killed < kills; try++ {
		o := begin(try%4 == 3)
		var lines []string
		// All boundaries in order from the first; in CI only every n-th, and
		// random ones in between.
		cut := o
		var while time.Duration
		if try%2 == 0 {
			cut.KillAt = 1 + (int64(try/2)*max(1, boundaries*2/int64(kills)))%boundaries
		} else {
			cut.Steps, o.Steps = "graph", "graph"
			while = time.Duration(1 + random.Int64N(int64(took)))
		}
		for again := 0; ; again++ {
			result := run(t, cut, while, again%2 == 1)
			lines = append(lines, result.lines...)
			if !result.killed {
				break
			}
			killed++
			cut, while = o, 0
			if again < 3 && random.IntN(2) == 0 { // the resuming process is killed, too
				cut.KillAt = 1 + random.Int64N(boundaries)
			}
		}
		for _, line := range lines {
			if strings.HasPrefix(line, "? ") {
				asked++
			}
			if strings.HasPrefix(line, "- ") {
				skipped++
			}
		}
		known := !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "? ") })
		// otherwise the new note may or may not be marked
		if did := once(t, o.Dir, lines); known && o.Steps == whole.Steps && did != want {
			t.Fatalf("the turn says that it did %q, want %q; the user was told:\n%s", did, want,
				strings.Join(lines, "\n"))
		}
		if err := os.RemoveAll(o.Dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("the whole turn: %s", want)
	t.Logf("%d kills over %d boundaries and between them: each effect once and told in the last line of the turn, %d "+
		"asked about, of which %d were skipped by the user; 0 silent repeats, 0 silent skips", killed,
		boundaries, asked, skipped)
}

// once checks that each of the six effects happened exactly once or was skipped
// by the user. It returns the turn's own account of its effects.
func once(t *testing.T, dir string, lines []string) string {
	t.Helper()
	found, err := look(dir, "six 1")
	if err != nil {
		t.Fatal(err)
	}
	skipped := map[string]bool{}
	for _, line := range lines {
		if tool, ok := strings.CutPrefix(line, "- 1 "); ok {
			skipped[tool] = true
		}
	}
	if skipped["add_task"] { // then there is nothing to complete, which the step reports
		skipped["complete_task"] = true
	}
	for tool, count := range map[string]int{
		"append_note": found.Log, "add_task": found.Task, "send_email": found.Mail, "counter_count": found.Count,
		"create_note": found.Note, "complete_task": found.Ticked,
	} {
		if count > 1 || count == 0 && !skipped[tool] {
			t.Fatalf("%s happened %d times; the user was told:\n%s", tool, count, strings.Join(lines, "\n"))
		}
	}
	return tellsAll(t, dir, lines)
}

// tellsAll checks that the last line of the turn lists all effects, from before
// and after a kill, or reports that the outcome of a call is unknown. It returns
// that line.
func tellsAll(t *testing.T, dir string, lines []string) string {
	t.Helper()
	s, err := store.Open(database(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	list, err := s.Exchanges(t.Context(), "c")
	if err != nil || len(list) == 0 {
		t.Fatalf("%d turns, %v", len(list), err)
	}
	line := list[0].Answer.Effects.String()
	for tool, evidence := range map[string]string{
		"append_note": "log.md", "add_task": "tasks.md", "complete_task": "tasks.md", "create_note": "made/six 1.md",
		"send_email": "1 mail sent", "counter_count": "called counter_count (counter)",
	} {
		if !strings.Contains(line, evidence) && !strings.Contains(line, tool) {
			t.Fatalf("the turn says that it did %q, and nothing of %s; the user was told:\n%s", line, tool,
				strings.Join(lines, "\n"))
		}
	}
	return line
}
