package store

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"lifehub/agent"
)

// another opens the same database with a new owner, as another process would.
// kill simulates the end of that process.
func another(t *testing.T, path string) (s *Store, kill func()) {
	t.Helper()
	s, err := Open(path)
	must(t, err)
	killed := false
	kill = func() {
		if !killed {
			killed = true
			must(t, s.Close())
		}
	}
	t.Cleanup(kill)
	return s, kill
}

var typed = agent.Draft{
	Conversation: "c", Text: "a [paste 1 · 40 lines] b", Pastes: []agent.Paste{{
		Name: "[paste 1 · 40 lines]",
		Text: "long\ntext",
	}},
	Waiting: []string{"second", "third"},
}

func TestDraftGoesToTheNextProcessOnly(t *testing.T) {
	t.Parallel()
	third, path := openTemp(t)
	s, leave := another(t, path)
	say(t, s, "c", "a", "A")
	say(t, s, "other", "b", "B")
	first, kill := another(t, path)
	must(t, first.SaveDraft(t.Context(), typed))
	take := func(conversation string) agent.Draft {
		t.Helper()
		u, err := s.LoadDraft(t.Context(), conversation)
		must(t, err)
		return u
	}
	if u := take("c"); !u.Empty() {
		t.Errorf("taken from one that lives: %+v", u)
	}
	kill()
	if u := take("other"); !u.Empty() {
		t.Errorf("taken into another conversation: %+v", u)
	}
	want := typed
	want.Title = "a"
	if u := take("new"); !reflect.DeepEqual(u, want) {
		t.Errorf("got %+v, want %+v", u, want)
	}
	second, end := another(t, path)
	if u, err := second.LoadDraft(t.Context(), "c"); err != nil || !u.Empty() {
		t.Errorf("taken twice: %+v, %v", u, err)
	}
	end()
	must(t, s.SaveDraft(t.Context(), agent.Draft{Conversation: "c"}))
	leave()
	if u, err := third.LoadDraft(t.Context(), "c"); err != nil || !u.Empty() {
		t.Errorf("it was emptied, and there is still %+v, %v", u, err)
	}
}

func TestConcurrentChatsHaveSeparateDrafts(t *testing.T) {
	t.Parallel()
	s, path := openTemp(t)
	say(t, s, "c", "a", "A")
	first, endFirst := another(t, path)
	second, endSecond := another(t, path)
	must(t, first.SaveDraft(t.Context(), agent.Draft{Conversation: "c", Text: "one"}))
	must(t, second.SaveDraft(t.Context(), agent.Draft{Conversation: "c", Text: "two"}))
	must(t, first.SaveDraft(t.Context(), agent.Draft{Conversation: "c", Text: "one, changed"}))
	endSecond()
	for _, want := range []string{"two", ""} {
		u, err := s.LoadDraft(t.Context(), "c")
		if must(t, err); u.Text != want {
			t.Errorf("got %q, want %q", u.Text, want)
		}
		must(t, s.SaveDraft(t.Context(), agent.Draft{}))
	}
	endFirst()
	if u, err := s.LoadDraft(t.Context(), "c"); err != nil || u.Text != "one, changed" {
		t.Errorf("got %+v, %v", u, err)
	}
}

func TestDraftWithoutConversationIsLoadedAnywhere(t *testing.T) {
	t.Parallel()
	s, path := openTemp(t)
	say(t, s, "c", "a", "A")
	say(t, s, "d", "a", "A")
	leave := func(conversation, text string) {
		t.Helper()
		other, kill := another(t, path)
		must(t, other.SaveDraft(t.Context(), agent.Draft{Conversation: conversation, Text: text}))
		kill()
	}
	leave("c", "typed in c")
	leave("d", "typed in d")
	leave("never begun", "typed in none")
	for _, want := range []string{"typed in c", "typed in none", ""} {
		u, err := s.LoadDraft(t.Context(), "c")
		if must(t, err); u.Text != want {
			t.Errorf("got %q, want %q", u.Text, want)
		}
		must(t, s.SaveDraft(t.Context(), agent.Draft{}))
	}
	if u, err := s.LoadDraft(t.Context(), "new"); err != nil || u.Text != "typed in d" {
		t.Errorf("got %+v, %v", u, err)
	}
}

func TestOnlyOneProcessGetsADraft(t *testing.T) {
	t.Parallel()
	s, path := openTemp(t)
	say(t, s, "c", "a", "A")
	first, kill := another(t, path)
	must(t, first.SaveDraft(t.Context(), typed))
	kill()
	const many = 8
	got := make(chan agent.Draft, many)
	for range many {
		other, _ := another(t, path)
		go func() {
			u, err := other.LoadDraft(t.Context(), "c")
			if err != nil {
				t.Error(err)
			}
			got <- u
		}()
	}
	taken := 0
	for range many {
		if u := <-got; !u.Empty() {
			taken++
		}
	}
	if taken != 1 {
		t.Errorf("it was taken %d times", taken)
	}
}

// A message being sent is either in the conversation or queued again: never both,
// never neither.
func TestMessageBeingSentIsNeitherLostNorDuplicated(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		begin string // message of the turn that began; empty: none began
		want  []string
	}{
		"killed before it was saved":                 {"", []string{"what now?", "second"}},
		"killed after it was saved":                  {"what now?", []string{"second"}},
		"killed after it was saved as its expansion": {"the prompt that it stands for", []string{"second"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, path := openTemp(t)
			say(t, s, "c", "what now?", "the same was asked before")
			first, kill := another(t, path)
			must(t, first.SaveDraft(t.Context(), agent.Draft{Conversation: "c", Text: "what no"}))
			must(t, first.SaveDraft(t.Context(), agent.Draft{
				Conversation: "c", Sending: "what now?",
				Waiting: []string{"second"},
			}))
			if tc.begin != "" {
				_, err := first.Begin(t.Context(), "c", tc.begin)
				must(t, err)
			}
			kill()
			if u, err := s.LoadDraft(t.Context(), "c"); err != nil || !slices.Equal(u.Waiting, tc.want) ||
				u.Sending != "" || u.Text != "" {
				t.Errorf("got %+v, %v", u, err)
			}
		})
	}
}

func TestSteeringThatATurnTookIsNotInTheDraft(t *testing.T) {
	t.Parallel()
	s, path := openTemp(t)
	first, kill := another(t, path)
	turn, err := first.Begin(t.Context(), "c", "what now?")
	must(t, err)
	must(t, first.SaveDraft(t.Context(), agent.Draft{
		Conversation: "c", Steering: []agent.Steering{
			{ID: "1", Text: "yes"},
			{ID: "2", Text: "yes"},
			{ID: "3", Text: "no"},
		}, Waiting: []string{"later"},
	}))
	must(t, first.Record(t.Context(), turn, agent.Entry{
		Version: 1, Moment: agent.Steered,
		Steering: &agent.Steering{ID: "1", Text: "yes"},
	}))
	kill()
	if u, err := s.LoadDraft(t.Context(), "c"); err != nil ||
		!slices.Equal(u.Waiting, []string{"yes", "no", "later"}) || u.Steering != nil {
		t.Errorf("got %+v, %v", u, err)
	}
}

// edit saves a draft of a conversation and writes other text as an editor would.
func edit(t *testing.T, s *Store, conversation, text string) (path string) {
	t.Helper()
	must(t, s.SaveDraft(t.Context(), agent.Draft{Conversation: conversation, Text: "begun", Editing: true}))
	file, err := s.DraftFile()
	must(t, err)
	_, err = file.WriteString(text)
	must(t, err)
	must(t, file.Close())
	// a draft of another conversation
	must(t, s.SaveDraft(t.Context(), agent.Draft{Conversation: conversation, Text: "begun", Editing: true}))
	must(t, os.WriteFile(filepath.Join(filepath.Dir(file.Name()), "."+filepath.Base(file.Name())+".swp"), []byte(text),
		0o600))
	return file.Name()
}

func TestTextOfTheEditorIsTheDraft(t *testing.T) {
	t.Parallel()
	s, path := openTemp(t)
	say(t, s, "c", "a", "A")
	first, kill := another(t, path)
	edit(t, first, "c", "begun, and written on\n\n")
	kill()
	u, err := s.LoadDraft(t.Context(), "c")
	if must(t, err); u.Text != "begun, and written on" || u.Editing {
		t.Errorf("got %+v", u)
	}
	if left := filesWith(t, filepath.Dir(path), "written on\n"); len(left) != 0 {
		t.Errorf("the editor's files are still there: %v", left)
	}
}

func TestDeletedConversationLeavesNoDraft(t *testing.T) {
	t.Parallel()
	s, path := openTemp(t)
	for _, conversation := range []string{"c", "d"} {
		say(t, s, conversation, "a", "A")
		other, kill := another(t, path)
		must(t, other.SaveDraft(t.Context(), agent.Draft{
			Conversation: conversation,
			Text:         "zebraword of " + conversation,
		}))
		edit(t, other, conversation, "gnuword of "+conversation)
		kill()
	}
	must(t, Copy(t.Context(), s.file.Write, path+".v1.bak"))
	must(t, s.Remove(t.Context(), "c"))
	if left := filesWith(t, filepath.Dir(path), "word of c"); len(left) != 0 {
		t.Errorf("it is still in %v", left)
	}
	if u, err := s.LoadDraft(t.Context(), "d"); err != nil || u.Text != "gnuword of d" {
		t.Errorf("what was typed in another is %+v, %v", u, err)
	}
}

// A draft restored from a backup may have been sent since.
func TestBackupHoldsNoDraft(t *testing.T) {
	t.Parallel()
	s, path := openTemp(t)
	say(t, s, "c", "a", "A")
	must(t, s.SaveDraft(t.Context(), typed))
	must(t, s.BackUp(t.Context()))
	backups := filepath.Join(filepath.Dir(path), "backups")
	if names := filesWith(t, backups, ""); len(names) != 1 {
		t.Errorf("the backups are %v", names)
	}
	if names := filesWith(t, backups, "third"); len(names) != 0 {
		t.Errorf("it is in %v", names)
	}
}

func TestDraftInMemoryIsNotSaved(t *testing.T) {
	t.Parallel()
	s, err := InMemory()
	must(t, err)
	defer s.Close()
	must(t, s.SaveDraft(t.Context(), typed))
	if u, err := s.LoadDraft(t.Context(), "c"); err != nil || !u.Empty() {
		t.Errorf("got %+v, %v", u, err)
	}
}
