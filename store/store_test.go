package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"lifehub/agent"
)

var _ agent.History = (*Store)(nil)

func openTemp(t *testing.T) (*Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data", "lifehub.db")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, path
}

// say saves a finished turn of a conversation.
func say(t *testing.T, s *Store, conversation, question, answer string) string {
	t.Helper()
	turn, err := s.Begin(t.Context(), conversation, question)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Finish(t.Context(), turn, agent.Answer{Text: answer}); err != nil {
		t.Fatal(err)
	}
	return turn
}

// recent returns the window of a conversation without the turn under way.
func recent(t *testing.T, s *Store, conversation string, limit int) string {
	t.Helper()
	w, err := s.Window(t.Context(), conversation, limit)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	if last := len(w.Exchanges) - 1; last >= 0 && w.Exchanges[last].Open {
		w.Exchanges = w.Exchanges[:last]
	}
	for _, e := range w.Exchanges {
		words = append(words, "user:"+e.Question)
		if e.Answer.Text != "" {
			words = append(words, "assistant:"+e.Answer.Text)
		}
	}
	return strings.Join(words, " ")
}

func TestConversationIsRestored(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lifehub.db")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	id := s.NewConversation()
	want := agent.Answer{
		Text: "Long on Sunday. [1]",
		Sources: []agent.Source{{
			N: 1, Path: "running/plan.md", Line: 3, EndLine: 5, Text: "Sunday: long",
			Score: 0.5,
		}, {N: 2, Path: "look", Call: "2", Text: "cited by nobody"}},
		Citations: []agent.Citation{{
			N: 1, Path: "running/plan.md", Line: 4, EndLine: 4, Quote: "Sunday",
			Verdict: agent.Verified,
		}},
		Effects: agent.Effects{{Kind: agent.NoteChanged, Path: "tasks.md", Lines: &agent.Lines{Added: 1}}},
		Metrics: agent.Metrics{Latency: 12, ModelCalls: 2},
		Course: []agent.CourseEvent{{At: 5, Event: agent.Event{
			Type: "step",
			Time: time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC),
			Body: agent.StepChanged{Step: "1", Status: agent.Done},
		}}},
	}
	turn, err := s.Begin(t.Context(), id, "\n  When do I   run long?\nPlease.")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Finish(t.Context(), turn, want); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	want.Sources[1].Text = ""

	again, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	last, err := again.Last(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if last.ID != id || last.Title != "When do I run long?" || last.Messages != 2 {
		t.Errorf("got conversation %+v", last)
	}
	list, err := again.Exchanges(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || list[0].Question != "\n  When do I   run long?\nPlease." ||
		list[0].Open || list[0].Turn != turn {
		t.Fatalf("got exchanges %+v", list)
	}
	if !reflect.DeepEqual(list[0].Answer, want) {
		t.Errorf("got answer\n%+v\nwant\n%+v", list[0].Answer, want)
	}
}

// Earlier versions saved what a model wrote in the form of a record of deeds.
func TestSavedAnswerIsReadWithoutRecords(t *testing.T) {
	s, err := InMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	turn, err := s.Begin(t.Context(), "c", "add milk")
	if err == nil {
		err = s.Finish(t.Context(), turn, agent.Answer{Text: "Added.\n\n(LifeHub's record of this turn: changed " +
			"tasks.md (+1))\n\nAnd?", Cut: true})
	}
	if err == nil {
		_, err = s.Archive(t.Context(), "c", 0, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	const want = "Added.\n\n\n\nAnd?"
	path, err := s.Exchanges(t.Context(), "c")
	if err != nil || len(path) != 1 || path[0].Answer.Text != want {
		t.Errorf("exchanges %+v, %v", path, err)
	}
	window, err := s.Window(t.Context(), "c", 9)
	if err != nil || len(window.Exchanges) != 1 || window.Exchanges[0].Answer.Text != want {
		t.Errorf("window %+v, %v", window, err)
	}
	memories, err := s.Unembedded(t.Context(), "none", 0, 9)
	if err != nil || len(memories) != 1 || memories[0].Answer != want {
		t.Errorf("memories %+v, %v", memories, err)
	}
	left, err := s.Reopen(t.Context(), "c", turn)
	if err != nil || left.Text != want {
		t.Errorf("the turn to resume has %q, %v", left.Text, err)
	}
}

func TestUnfinishedTurnIsOpenAndKeepsItsText(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	turn, err := s.Begin(t.Context(), "c", "one")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"half", "half an"} {
		if err := s.Progress(t.Context(), turn, text, agent.Origin{}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.Exchanges(t.Context(), "c")
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || !list[0].Open || !list[0].Answer.Cut || list[0].Answer.Text != "half an" {
		t.Fatalf("got %+v", list)
	}

	// The next turn sees the saved part of the previous one.
	if _, err := s.Begin(t.Context(), "c", "two"); err != nil {
		t.Fatal(err)
	}
	if got, want := recent(t, s, "c", 6), "user:one assistant:half an"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProgressDoesNotChangeAFinishedAnswer(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	turn := say(t, s, "c", "q", "whole")
	if err := s.Progress(t.Context(), turn, "late", agent.Origin{}); err != nil {
		t.Fatal(err)
	}
	if got, want := recent(t, s, "c", 6), "user:q assistant:whole"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWindowHoldsWholeExchangesAndCountsTheOthers(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	say(t, s, "c", "a", "A")
	say(t, s, "c", "b", "") // failed before the first piece
	say(t, s, "other", "x", "X")
	say(t, s, "c", "d", "D")
	if _, err := s.Begin(t.Context(), "c", "now"); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int]string{
		1:  "5: ",
		2:  "3: user:d assistant:D",
		3:  "2: user:b user:d assistant:D",
		4:  "2: user:b user:d assistant:D",
		5:  "0: user:a assistant:A user:b user:d assistant:D",
		99: "0: user:a assistant:A user:b user:d assistant:D",
	} {
		w, err := s.Window(t.Context(), "c", limit)
		if got := fmt.Sprintf("%d: %s", w.Before, recent(t, s, "c", limit)); err != nil || got != want {
			t.Errorf("limit %d: got %q, %v; want %q", limit, got, err, want)
		}
	}
	if got := recent(t, s, "unknown", 6); got != "" {
		t.Errorf("got %q of an unknown conversation", got)
	}
}

func TestFinishSavesWithACancelledContext(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	ctx, cancel := context.WithCancel(t.Context())
	turn, err := s.Begin(ctx, "c", "q")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := s.Finish(ctx, turn, agent.Answer{Text: "cut he", Cut: true}); err != nil {
		t.Fatal(err)
	}
	list, err := s.Exchanges(t.Context(), "c")
	if err != nil {
		t.Fatal(err)
	}
	if e := list[0]; e.Open || !e.Answer.Cut || e.Answer.Text != "cut he" {
		t.Errorf("got %+v", e)
	}
}

func TestFinishOfAnUnknownTurnIsAnError(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	err := s.Finish(t.Context(), "nope.1", agent.Answer{})
	if err == nil || !strings.Contains(err.Error(), `no turn "nope.1"`) {
		t.Errorf("got %v", err)
	}
}

func TestConversationsAreFoundByIDPrefix(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	for _, id := range []string{"abc", "abd", "ab", "x%_", "xyz"} {
		say(t, s, id, "question of "+id, "…")
	}
	for prefix, want := range map[string]string{"abc": "abc", "ab": "ab", "xy": "xyz", "x%": "x%_", " abd ": "abd"} {
		c, err := s.Conversation(t.Context(), prefix)
		if err != nil || c.ID != want {
			t.Errorf("%q: got %q, %v, want %q", prefix, c.ID, err, want)
		}
	}
	for _, none := range []string{"", "q", "abcd", "%"} {
		if _, err := s.Conversation(t.Context(), none); !errors.Is(err, ErrNoConversation) {
			t.Errorf("%q: got %v, want ErrNoConversation", none, err)
		}
	}
	_, err := s.Conversation(t.Context(), "a")
	if err == nil || !strings.Contains(err.Error(), "abd") || !strings.Contains(err.Error(), "more characters") {
		t.Errorf("got %v", err)
	}
}

func TestConversationOrderDoesNotDependOnTheClock(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	if _, err := s.Last(t.Context()); !errors.Is(err, ErrNoConversation) {
		t.Errorf("got %v of an empty store", err)
	}
	clock := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	s.now = func() time.Time { clock = clock.Add(-time.Hour); return clock }
	say(t, s, "a", "1", "")
	say(t, s, "b", "2", "")
	say(t, s, "a", "3", "")
	list, err := s.Conversations(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].ID != "a" || list[1].ID != "b" {
		t.Errorf("got %+v", list)
	}
	prompts, err := s.Prompts(t.Context(), 2)
	if err != nil || !reflect.DeepEqual(prompts, []string{"3", "2"}) {
		t.Errorf("got prompts %v, %v", prompts, err)
	}
}

func TestPromptsHasNoDuplicates(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	for _, q := range []string{"x", "y", "x", "z", "x"} {
		say(t, s, "c", q, "")
	}
	got, err := s.Prompts(t.Context(), 10)
	if err != nil || !reflect.DeepEqual(got, []string{"x", "z", "y"}) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestFilesAreAccessibleToTheirOwnerOnly(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("file modes mean nothing on Windows")
	}
	s, path := openTemp(t)
	say(t, s, "c", "q", "a")
	for name, want := range map[string]os.FileMode{path: 0o600, path + "-journal": 0o600, filepath.Dir(path): 0o700} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", name, got, want)
		}
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	again, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("a file open to all stayed %o", info.Mode().Perm())
	}
}

func TestStoreInMemoryWritesNoFiles(t *testing.T) {
	t.Parallel()
	s, err := InMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	say(t, s, "c", "q", "a")
	if got, want := recent(t, s, "c", 6), "user:q assistant:a"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPathMayHaveAnyCharacters(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "wörk & 100% #1 ?x=y", "lifehub.db")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	say(t, s, "c", "q", "a")
	if _, err := os.Stat(path + "-journal"); err != nil {
		t.Errorf("the database is not where it was asked for: %v", err)
	}
}

func TestEveryConnectionHasDurableSettings(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	for name, db := range map[string]*sql.DB{"writer": s.file.Write, "reader": s.file.Read} {
		var synchronous, keys int
		err := errors.Join(db.QueryRow("PRAGMA synchronous").Scan(&synchronous),
			db.QueryRow("PRAGMA foreign_keys").Scan(&keys))
		if err != nil || synchronous != 2 || keys != 1 {
			t.Errorf("%s: synchronous %d, foreign keys %d, %v", name, synchronous, keys, err)
		}
	}
	var journal string
	if err := s.file.Write.QueryRow("PRAGMA journal_mode").Scan(&journal); err != nil || journal != "truncate" {
		t.Errorf("journal %s, %v", journal, err)
	}
	if _, err := s.file.Read.Exec("DELETE FROM messages"); err == nil {
		t.Error("the reader may write")
	}
}

func TestMessagesKnowTheirParent(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	say(t, s, "c", "a", "A")
	say(t, s, "c", "b", "B")
	rows, err := s.file.Read.Query("SELECT m.text, coalesce(p.text, '') FROM messages m LEFT JOIN messages p ON p.id " +
		"= m.parent ORDER BY m.id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var got []string
	for rows.Next() {
		var text, parent string
		if err := rows.Scan(&text, &parent); err != nil {
			t.Fatal(err)
		}
		got = append(got, parent+"›"+text)
	}
	if want := []string{"›a", "a›A", "A›b", "b›B"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func BenchmarkBegin(b *testing.B) {
	s, err := Open(filepath.Join(b.TempDir(), "lifehub.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for b.Loop() {
		if _, err := s.Begin(b.Context(), "c", "question"); err != nil {
			b.Fatal(err)
		}
	}
}

func TestConversationIsReadAlongItsCurrentBranch(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	say(t, s, "c", "a", "A")
	say(t, s, "c", "b", "B")
	if _, err := s.file.Write.Exec("UPDATE conversations SET head = (SELECT id FROM messages WHERE text = 'A')"); err != nil {
		t.Fatal(err)
	}
	say(t, s, "c", "d", "D")
	if got, want := recent(t, s, "c", 9), "user:a assistant:A user:d assistant:D"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	list, err := s.Exchanges(t.Context(), "c")
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].Question != "a" || list[1].Question != "d" || list[1].Turn != "c.3" {
		t.Errorf("got %+v", list)
	}
}

func BenchmarkExchangesOf5000Messages(b *testing.B) {
	s, err := InMemory()
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for range 2500 {
		turn, err := s.Begin(b.Context(), "c", "a question of some length, as questions are")
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Finish(b.Context(), turn, agent.Answer{Text: strings.Repeat("word ", 100)}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := s.Exchanges(b.Context(), "c"); err != nil {
			b.Fatal(err)
		}
	}
}
