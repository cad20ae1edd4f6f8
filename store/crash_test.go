package store

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/internal/testenv"
)

// These tests run the test binary again as a child process that writes turns and
// reports on stdout each one that the store has acknowledged.
const (
	childEnv  = "LIFEHUB_TEST_STORE" // path of the database
	turnsEnv  = "LIFEHUB_TEST_TURNS" // turns to write; 0: until killed
	prefixEnv = "LIFEHUB_TEST_NAME"
	holdEnv   = "LIFEHUB_TEST_HOLD" // set: begin one turn and hold it
)

func TestMain(m *testing.M) {
	testenv.Parallel(4)
	if path := os.Getenv(childEnv); path != "" {
		work := writeTurns
		if os.Getenv(holdEnv) != "" {
			work = holdTurn
		}
		if err := work(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if path := os.Getenv(migrateEnv); path != "" {
		s, err := Open(path)
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writeTurns runs in the child: it prints "Q n" after question n is saved and "A
// n" after its answer is.
func writeTurns(path string) error {
	s, err := Open(path)
	if err != nil {
		return err
	}
	turns, _ := strconv.Atoi(os.Getenv(turnsEnv))
	name := os.Getenv(prefixEnv)
	background := context.Background()
	for n := 1; turns == 0 || n <= turns; n++ {
		turn, err := s.Begin(background, name, fmt.Sprintf("%s question %d", name, n))
		if err != nil {
			return err
		}
		fmt.Println("Q", n)
		for i := range 3 {
			if err := s.Progress(background, turn, strings.Repeat("word ", i), agent.Origin{}); err != nil {
				return err
			}
		}
		if err := s.Finish(background, turn, agent.Answer{Text: fmt.Sprintf("answer %d", n)}); err != nil {
			return err
		}
		fmt.Println("A", n)
	}
	return s.Close()
}

// child returns a command that writes turns into path, as the conversation name.
func child(path, name string, turns int) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+path, prefixEnv+"="+name, fmt.Sprintf("%s=%d", turnsEnv, turns))
	return cmd
}

// check compares the saved conversation with what was acknowledged.
func check(t *testing.T, s *Store, name string, questions, answers int) {
	t.Helper()
	list, err := s.Exchanges(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	// There may be one more than acknowledged: killed between saving and
	// printing.
	if len(list) < questions || len(list) > questions+1 {
		t.Fatalf("%s: %d questions kept, %d acknowledged", name, len(list), questions)
	}
	for i, e := range list {
		n := i + 1
		if want := fmt.Sprintf("%s question %d", name, n); e.Question != want {
			t.Fatalf("question %d of %s reads %q", n, name, e.Question)
		}
		if want := fmt.Sprintf("answer %d", n); n <= answers && (e.Open || e.Answer.Text != want) {
			t.Fatalf("answer %d of %s was acknowledged; it reads %q, open %t", n, name, e.Answer.Text, e.Open)
		}
	}
}

func TestKillLosesNothingAcknowledged(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	cycles := testenv.Rounds(12, 10_000)
	seed, random := seeded()
	path := filepath.Join(t.TempDir(), "lifehub.db")
	var acknowledged int
	var slowest time.Duration
	for cycle := range cycles {
		name := fmt.Sprintf("cycle%d", cycle)
		questions, answers := killAfter(t, path, name, time.Duration(random.IntN(60))*time.Millisecond, cycle%4 == 0)
		acknowledged += questions + answers

		began := time.Now()
		s, err := Open(path)
		if err != nil {
			t.Fatalf("LIFEHUB_SEED=%d cycle %d: %v", seed, cycle, err)
		}
		slowest = max(slowest, time.Since(began))
		check(t, s, name, questions, answers)
		if cycle%10 == 0 || cycle == cycles-1 {
			var report string
			if err := s.file.Read.QueryRow("PRAGMA integrity_check").Scan(&report); err != nil || report != "ok" {
				t.Fatalf("LIFEHUB_SEED=%d cycle %d: integrity %q, %v", seed, cycle, report, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed %d: %d kills, %d writes acknowledged, 0 lost, slowest start %v", seed, cycles, acknowledged, slowest)
	if acknowledged == 0 {
		t.Error("nothing was written between the kills: the test shows nothing")
	}
	if slowest > 2*time.Second {
		t.Errorf("a start took %v, more than 2 s", slowest)
	}
}

// killAfter kills a child after a while, counted from its start or its first
// output, and returns how many questions and answers it acknowledged.
func killAfter(t *testing.T, path, name string, while time.Duration, atStart bool) (questions, answers int) {
	t.Helper()
	cmd := child(path, name, 0)
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
	if atStart {
		kill()
	}
	lines := bufio.NewScanner(out)
	for first := true; lines.Scan(); first = false {
		if first && !atStart {
			kill()
		}
		kind, number, _ := strings.Cut(lines.Text(), " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			break // truncated by the kill
		}
		if kind == "Q" {
			questions = n
		} else {
			answers = n
		}
	}
	_ = cmd.Wait()
	if stderr.Len() > 0 {
		t.Fatalf("child: %s", stderr.String())
	}
	return questions, answers
}

func TestSeveralProcessesShareOneFile(t *testing.T) {
	t.Parallel()
	processes, turns := 3, 20
	if os.Getenv("LIFEHUB_SOAK") != "" {
		processes, turns = 8, 1000
	}
	path := filepath.Join(t.TempDir(), "lifehub.db")
	var group sync.WaitGroup
	for i := range processes {
		group.Go(func() {
			if out, err := child(path, fmt.Sprintf("process%d", i), turns).CombinedOutput(); err != nil {
				t.Errorf("process %d: %v\n%s", i, err, out[max(0, len(out)-500):])
			}
		})
	}
	group.Wait()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range processes {
		check(t, s, fmt.Sprintf("process%d", i), turns, turns)
	}
	var report string
	if err := s.file.Read.QueryRow("PRAGMA integrity_check").Scan(&report); err != nil || report != "ok" {
		t.Errorf("integrity %q, %v", report, err)
	}
}
