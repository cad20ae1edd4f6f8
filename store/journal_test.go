package store

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"lifehub/agent"
)

var _ agent.Journal = (*Store)(nil)

// entries returns the journal of a turn with one finished step and one awaiting
// permission.
func entries() []agent.Entry {
	at := time.UnixMilli(1_800_000_000_000).UTC()
	input := json.RawMessage(`{"text":"milk <ä>"}`)
	return []agent.Entry{
		{Version: 1, Moment: agent.Planned, Time: at, Plan: &agent.PlanMade{Steps: []agent.Step{{
			ID:   "1",
			Tool: "add_task", Input: input,
		}}}},
		{Version: 1, Moment: agent.Intended, Time: at, Step: "1", Tool: "add_task", Input: input, Hash: "h"},
		{Version: 1, Moment: agent.CallAsked, Time: at, Step: "1"},
		{Version: 1, Moment: agent.Decided, Time: at, Step: "1", Decision: agent.AllowOnce},
		{Version: 1, Moment: agent.CallStarted, Time: at, Step: "1", Mark: json.RawMessage(`{"was":"x"}`)},
		{
			Version: 1, Moment: agent.CallEnded, Time: at, Step: "1", Status: agent.Done,
			Result:  &agent.Result{Text: "added", Sources: []agent.Source{{Path: "tasks.md", Line: 1, EndLine: 1}}},
			Effects: []agent.Effect{{Kind: agent.NoteChanged, Path: "tasks.md", Lines: &agent.Lines{Added: 1}}},
		},
	}
}

// leaveOpen begins a turn, records the entries, and leaves the turn open as a
// kill would.
func leaveOpen(t *testing.T, path string, list []agent.Entry) (turn string) {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if turn, err = s.Begin(t.Context(), "c", "add milk"); err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if err := s.Record(t.Context(), turn, e); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Progress(t.Context(), turn, "So far", agent.Origin{}); err != nil {
		t.Fatal(err)
	}
	return turn
}

func TestInterruptedTurnIsRestoredAsRecorded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lifehub.db")
	turn := leaveOpen(t, path, entries())
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, err := s.Reopen(t.Context(), "c", turn)
	want := agent.Unfinished{Question: "add milk", Text: "So far", Entries: entries()}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v\n%v", got, want, err)
	}
	if _, err := s.Reopen(t.Context(), "c", turn); !errors.Is(err, agent.ErrBusy) {
		t.Errorf("a turn that this process goes on with is taken again: %v", err)
	}
	if err := s.Finish(t.Context(), turn, agent.Answer{Text: "Done."}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Reopen(t.Context(), "c", turn); !errors.Is(err, agent.ErrOver) {
		t.Errorf("a turn that is done is gone on with: %v", err)
	}
}

// Later turns, the search and the composer's history read what was sent while a
// turn ran, also if that turn is never resumed.
func TestSteeringIsSavedWithTheMessage(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	turn, err := s.Begin(t.Context(), "c", "add milk")
	must(t, err)
	for _, text := range []string{"and oats", "and honey"} {
		must(t, s.Record(t.Context(), turn, agent.Entry{
			Version: 1, Moment: agent.Steered,
			Steering: &agent.Steering{ID: text, Text: text},
		}))
	}
	must(t, s.Finish(t.Context(), turn, agent.Answer{Text: "Done."}))
	w, err := s.Window(t.Context(), "c", 10)
	must(t, err)
	message, steering := agent.SplitSteering(w.Exchanges[0].Question)
	if message != "add milk" || !slices.Equal(steering, []string{"and oats", "and honey"}) {
		t.Errorf("saved %q and %q", message, steering)
	}
	if prompts, err := s.Prompts(t.Context(), 2); err != nil ||
		!slices.Equal(prompts, []string{"and honey", "and oats"}) {
		t.Errorf("prompts %q, %v", prompts, err)
	}
	if hits, err := s.Search(t.Context(), "", "honey", 5); err != nil || len(hits) != 1 || hits[0].Turn != turn {
		t.Errorf("found %+v, %v", hits, err)
	}
}

func TestStoppedOrFailedTurnCanBeResumed(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]agent.Answer{
		"stopped": {Text: "So", Cut: true},
		"failed":  {Error: "the server is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := openTemp(t)
			turn, err := s.Begin(t.Context(), "c", "q")
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Finish(t.Context(), turn, answer); err != nil {
				t.Fatal(err)
			}
			left, err := s.Reopen(t.Context(), "c", turn)
			if err != nil || left.Question != "q" || left.Text != answer.Text {
				t.Fatalf("got %+v, %v", left, err)
			}
			if got := recent(t, s, "c", 6); got != "" {
				t.Errorf("the turn under way counts as said: %q", got)
			}
		})
	}
}

func TestOnlyTheLastTurnCanBeResumed(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	first, err := s.Begin(t.Context(), "c", "first")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Finish(t.Context(), first, agent.Answer{Cut: true}); err != nil {
		t.Fatal(err)
	}
	say(t, s, "c", "second", "a")
	for _, turn := range []string{first, "c.9", ""} {
		if _, err := s.Reopen(t.Context(), "c", turn); !errors.Is(err, agent.ErrOver) {
			t.Errorf("turn %q: %v", turn, err)
		}
	}
}

func TestDamagedJournalEntriesAreReportedAndOmitted(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	path := filepath.Join(t.TempDir(), "lifehub.db")
	turn := leaveOpen(t, path, entries())
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 200 {
		number := 1 + random.IntN(len(entries()))
		column := []string{"entry", "result", "sum", "number", "row"}[random.IntN(5)]
		tx, err := s.file.Write.Begin()
		if err != nil {
			t.Fatal(err)
		}
		switch column {
		case "row":
			number = 1 + random.IntN(len(entries())-1) // entries that were never written are not missed
			_, err = tx.Exec("DELETE FROM journal WHERE turn = ? AND number = ?", turn, number)
		case "number":
			_, err = tx.Exec("UPDATE journal SET number = number + 100 WHERE turn = ? AND number = ?", turn, number)
		default:
			var text string
			if err := tx.QueryRow("SELECT "+column+" FROM journal WHERE turn = ? AND number = ?", turn,
				number).Scan(&text); err != nil {
				t.Fatal(err)
			}
			changed := []byte(text + " ")
			changed[random.IntN(len(changed))] ^= 1 << random.IntN(7)
			_, err = tx.Exec("UPDATE journal SET "+column+" = ? WHERE turn = ? AND number = ?",
				string(changed), turn, number)
		}
		if err != nil {
			t.Fatal(err)
		}
		list, damaged, err := readJournal(t.Context(), tx, turn)
		if err != nil || !damaged || len(list) != len(entries())-1 {
			t.Fatalf("seed %d: %s of row %d changed: %d entries, damaged %t, %v", seed, column,
				number, len(list), damaged, err)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestJournalIsDeletedWithItsConversation(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	turn, err := s.Begin(t.Context(), "c", "q")
	if err == nil {
		err = s.Record(t.Context(), turn, entries()...)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.file.Write.Exec("DELETE FROM conversations"); err != nil {
		t.Fatal(err)
	}
	var rows int
	if err := s.file.Read.QueryRow("SELECT count(*) FROM journal").Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d rows are left, %v", rows, err)
	}
}

func TestFinishedTurnKeepsDecisionsButNotResults(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	turn, err := s.Begin(t.Context(), "c", "q")
	if err == nil {
		err = errors.Join(s.Record(t.Context(), turn, entries()...),
			s.Finish(t.Context(), turn, agent.Answer{Text: "a"}))
	}
	if err != nil {
		t.Fatal(err)
	}
	var rows, results int
	if err := s.file.Read.QueryRow("SELECT count(*), count(nullif(result, '')) FROM journal").Scan(&rows,
		&results); err != nil || rows != len(entries()) || results != 0 {
		t.Errorf("%d rows, %d results, %v", rows, results, err)
	}
	left, damaged, err := readJournal(t.Context(), s.file.Read, turn)
	if err != nil || damaged || len(left) != len(entries()) {
		t.Errorf("%d entries are left, damaged: %v, %v", len(left), damaged, err)
	}
}

// The space of a long result is reused.
func TestSpaceOfDroppedResultsIsReused(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	long := agent.Entry{
		Version: 1, Moment: agent.CallEnded, Step: "1",
		Result: &agent.Result{Text: strings.Repeat("a long result ", 250)},
	}
	for range 40 {
		turn, err := s.Begin(t.Context(), "c", "q")
		if err == nil {
			err = errors.Join(s.Record(t.Context(), turn, long), s.Finish(t.Context(), turn, agent.Answer{Text: "a"}))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var pages, rows int
	if err := s.file.Read.QueryRow("SELECT sum(pgsize), sum(payload) FROM dbstat WHERE name = 'journal'").Scan(&pages,
		&rows); err != nil || pages > 2*rows+4096 {
		t.Errorf("%d bytes for %d, %v", pages, rows, err)
	}
}

// A turn that another process works on cannot be taken over until that process
// ends; then it can be, immediately.
func TestRunningTurnIsLeftToItsProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lifehub.db")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+path, holdEnv+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	turn, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	turn = turn[:len(turn)-1]

	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	running := func() (open, running bool) {
		list, err := s.Exchanges(t.Context(), "c")
		if err != nil || len(list) != 1 {
			t.Fatalf("%d turns, %v", len(list), err)
		}
		return list[0].Open, list[0].Running
	}
	if open, running := running(); !open || !running {
		t.Errorf("open %t, running %t", open, running)
	}
	if _, err := s.Reopen(t.Context(), "c", turn); !errors.Is(err, agent.ErrBusy) {
		t.Errorf("the turn of another process was taken: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if open, running := running(); !open || running {
		t.Errorf("after the kill: open %t, running %t", open, running)
	}
	if _, err := s.Reopen(t.Context(), "c", turn); err != nil {
		t.Errorf("the turn of a process that is gone: %v", err)
	}
	left, err := os.ReadDir(path + ".owners")
	if err != nil || len(left) != 1 {
		t.Errorf("files of owners: %v, %v", left, err)
	}
}

// holdTurn runs in the child: it begins a turn, prints its ID, and holds it.
func holdTurn(path string) error {
	s, err := Open(path)
	if err != nil {
		return err
	}
	turn, err := s.Begin(context.Background(), "c", "q")
	if err != nil {
		return err
	}
	fmt.Println(turn)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// BenchmarkRecord measures how long a turn waits for one journal entry.
func BenchmarkRecord(b *testing.B) {
	s, err := Open(filepath.Join(b.TempDir(), "lifehub.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	turn, err := s.Begin(b.Context(), "c", "q")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := s.Record(b.Context(), turn, entries()[1:3]...); err != nil {
			b.Fatal(err)
		}
	}
}
