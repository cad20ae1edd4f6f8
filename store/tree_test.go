package store

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"lifehub/agent"
)

// shape formats a tree as "turn<after" words; turns on the current path have a
// star.
func shape(t *testing.T, s *Store, conversation string) string {
	t.Helper()
	list, err := s.Tree(t.Context(), conversation)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, e := range list {
		word := strings.TrimPrefix(e.Turn, conversation+".") + "<" + strings.TrimPrefix(e.After, conversation+".")
		if e.Current {
			word += "*"
		}
		if e.Undone {
			word += "-"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestContinuingFromAnEarlierTurnCreatesABranch(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	say(t, s, "c", "a", "A")
	say(t, s, "c", "b", "B")
	say(t, s, "c", "c", "C")
	must(t, s.GoOn(t.Context(), "c", "c.1"))
	say(t, s, "c", "b again", "B2")
	if got, want := shape(t, s, "c"), "1<* 2<1 3<2 4<1*"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := recent(t, s, "c", 9), "user:a assistant:A user:b again assistant:B2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}

	must(t, s.GoOn(t.Context(), "c", ""))
	say(t, s, "c", "another beginning", "D")
	list, err := s.Exchanges(t.Context(), "c")
	must(t, err)
	if len(list) != 1 || !reflect.DeepEqual(list[0].Siblings, []string{"c.1", "c.5"}) {
		t.Errorf("got %+v", list)
	}
}

func TestShowingATurnShowsTheNewestBranchBelowIt(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	say(t, s, "c", "a", "A")
	say(t, s, "c", "b", "B")
	say(t, s, "c", "c", "C")
	must(t, s.GoOn(t.Context(), "c", "c.2"))
	say(t, s, "c", "d", "D")
	must(t, s.GoOn(t.Context(), "c", "c.1"))
	say(t, s, "c", "e", "E")
	must(t, s.Show(t.Context(), "c", "c.2"))
	if got, want := shape(t, s, "c"), "1<* 2<1* 3<2 4<2* 5<1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	must(t, s.GoOn(t.Context(), "c", "c.2"))
	must(t, s.Show(t.Context(), "c", "c.1"))
	if got, want := shape(t, s, "c"), "1<* 2<1* 3<2 4<2 5<1"; got != want {
		t.Errorf("a path that was shown already changed: got %q, want %q", got, want)
	}
	for _, turn := range []string{"c.9", "other.1"} {
		if err := s.Show(t.Context(), "c", turn); !errors.Is(err, ErrNoConversation) {
			t.Errorf("%s: got %v", turn, err)
		}
	}
}

func TestForkIsIndependentOfItsOriginal(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	say(t, s, "c", "a", "A")
	turn, err := s.Begin(t.Context(), "c", "b")
	must(t, err)
	must(t, s.Finish(t.Context(), turn, agent.Answer{
		Text: "B", Citations: []agent.Citation{{N: 1, Path: "x.md"}},
		Effects: agent.Effects{},
	}))
	say(t, s, "c", "c", "C")
	made, err := s.Fork(t.Context(), "c", "c.2")
	must(t, err)
	fork := made.ID
	say(t, s, fork, "d", "D")
	if got, want := recent(t, s, fork, 9), "user:a assistant:A user:b assistant:B user:d assistant:D"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := recent(t, s, "c", 9), "user:a assistant:A user:b assistant:B user:c assistant:C"; got != want {
		t.Errorf("the original reads %q, want %q", got, want)
	}
	list, err := s.Exchanges(t.Context(), fork)
	must(t, err)
	if list[1].Turn != fork+".2" || len(list[1].Answer.Citations) != 1 ||
		list[1].Answer.Effects.String() != "changed nothing" {
		t.Errorf("got %+v", list[1])
	}
	if made.Title != "a (fork)" {
		t.Errorf("its title is %q", made.Title)
	}
	if _, err := s.Fork(t.Context(), "c", "c.9"); !errors.Is(err, ErrNoConversation) {
		t.Errorf("got %v", err)
	}
}

// The copy of a turn can be undone and, when resumed, does not repeat its calls.
func TestForkCopiesJournalAndNoteChanges(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	done := say(t, s, "c", "a", "A")
	cut, err := s.Begin(t.Context(), "c", "append it")
	must(t, err)
	input := json.RawMessage(`{"path":"x.md","text":"<b> & more"}`)
	for _, turn := range []string{done, cut} {
		must(t, s.Record(t.Context(), turn,
			agent.Entry{Moment: agent.Intended, Step: "1", Tool: "append_note", Input: input},
			agent.Entry{Moment: agent.CallStarted, Step: "1"},
			agent.Entry{Moment: agent.CallEnded, Step: "1", Result: &agent.Result{Text: "appended"}}))
		must(t, s.Changing(t.Context(), turn, agent.NoteChange{
			Vault: "/v", Path: "x.md",
			Before: []byte{}, After: "1",
		}))
		must(t, s.Changing(t.Context(), turn, agent.NoteChange{Vault: "/v", Path: "new.md", After: "2"}))
	}
	made, err := s.Fork(t.Context(), "c", cut)
	must(t, err)
	for i, turn := range []string{done, cut} {
		copied := made.ID + "." + strconv.Itoa(i+1)
		want, err := s.NoteChanges(t.Context(), turn)
		must(t, err)
		if got, err := s.NoteChanges(t.Context(), copied); err != nil ||
			!reflect.DeepEqual(got, want) || len(got) != 2 {
			t.Errorf("of %s: note changes %+v, %v; want %+v", turn, got, err, want)
		}
		entries, err := s.Entries(t.Context(), turn)
		must(t, err)
		if got, err := s.Entries(t.Context(), copied); err != nil || !reflect.DeepEqual(got, entries) || len(got) != 3 {
			t.Errorf("of %s: journal %+v, %v; want %+v", turn, got, err, entries)
		}
	}
	left, err := s.Reopen(t.Context(), made.ID, made.ID+".2")
	must(t, err)
	if left.Damaged || len(left.Entries) != 3 || left.Entries[2].Result == nil ||
		left.Entries[2].Result.Text != "appended" {
		t.Errorf("gone on with %+v", left)
	}
}

func TestUserTitleIsNeverReplaced(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	say(t, s, "c", "when do I fly?", "On Monday.")
	title := func() string {
		c, err := s.Conversation(t.Context(), "c")
		must(t, err)
		return string(c.TitledBy) + ": " + c.Title
	}
	steps := []struct {
		do   func() error
		want string
	}{
		{func() error { return nil }, "words: when do I fly?"},
		{func() error { return s.Rename(t.Context(), "c", " My \n trip ") }, "user: My trip"},
		{func() error { say(t, s, "c", "and back?", "On Friday."); return nil }, "user: My trip"},
	}
	for _, step := range steps {
		must(t, step.do())
		if got := title(); got != step.want {
			t.Errorf("got %q, want %q", got, step.want)
		}
	}
	if err := s.Rename(t.Context(), "c", " \n"); err == nil {
		t.Error("an empty title was taken")
	}
}

func TestUndoneTurnStaysInTheTree(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	say(t, s, "c", "a", "A")
	turn := say(t, s, "c", "b", "B")
	changes := []agent.NoteChange{
		{Vault: "/notes", Path: "a.md", Before: []byte("old"), After: "1f"},
		{Vault: "/notes", Path: "empty.md", Before: []byte{}, After: "2f"},
		{Vault: "/notes", Path: "new.md", After: "3f"},
	}
	for _, c := range changes {
		must(t, s.Changing(t.Context(), turn, c))
	}
	got, err := s.NoteChanges(t.Context(), turn)
	must(t, err)
	if !reflect.DeepEqual(got, changes) {
		t.Errorf("got %+v, want %+v", got, changes)
	}
	must(t, s.TakeBack(t.Context(), turn))
	if got, want := shape(t, s, "c"), "1<* 2<1-"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	must(t, s.TakeBack(t.Context(), "c.1"))
	if got, want := shape(t, s, "c"), "1<- 2<1-"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := s.Changing(t.Context(), "nope.1", changes[0]); err == nil {
		t.Error("a change of no turn was kept")
	}
}

func TestLatestReturnsTurnsOfTheCurrentPath(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	say(t, s, "c", "a", "A")
	say(t, s, "c", "b", "B")
	must(t, s.GoOn(t.Context(), "c", "c.1"))
	say(t, s, "c", "b again", "B2")
	say(t, s, "c", "d", "D")
	all, err := s.Exchanges(t.Context(), "c")
	must(t, err)
	for n, want := range map[int][]agent.Exchange{0: {}, 1: all[2:], 2: all[1:], 3: all, 9: all} {
		if got, err := s.Latest(t.Context(), "c", n); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("last %d: got %+v, want %+v, %v", n, got, want, err)
		}
	}
}
