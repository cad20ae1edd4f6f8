package draft_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/store"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openTemp(t *testing.T) (*store.Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data", "lifehub.db")
	s, err := store.Open(path)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s, path
}

// say has a turn of a question and its answer.
func say(t *testing.T, s *store.Store, conversation, question, answer string) {
	t.Helper()
	turn, err := s.Begin(t.Context(), conversation, question)
	must(t, err)
	must(t, s.Finish(t.Context(), turn, agent.Answer{Text: answer}))
}

// filesWith are the files below a folder that hold a text.
func filesWith(t *testing.T, dir, text string) (found []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), text) {
			found = append(found, filepath.Base(path))
		}
		return err
	}))
	return found
}

// another opens the same database as another process would: with an owner of
// its own. It ends when the test says so, as if killed.
func another(t *testing.T, path string) (s *store.Store, kill func()) {
	t.Helper()
	s, err := store.Open(path)
	must(t, err)
	killed := false
	kill = func() {
		if !killed {
			killed = true
			names, _ := filepath.Glob(filepath.Join(path+".owners", "*"))
			must(t, s.Close())
			for _, name := range names { // the kernel lets go of the lock, and the file stays
				file, err := os.OpenFile(name, os.O_CREATE, 0o600)
				must(t, err)
				must(t, file.Close())
			}
		}
	}
	t.Cleanup(kill)
	return s, kill
}

var typed = agent.Draft{
	Conversation: "c", Text: "a [paste 1 · 40 lines] b", Pastes: []agent.Paste{{Name: "[paste 1 · 40 lines]", Text: "long\ntext"}},
	Waiting: []string{"second", "third"},
}

func TestADraftGoesToTheNextProcessAndToNoOther(t *testing.T) {
	s, path := openTemp(t)
	say(t, s, "c", "a", "A")
	say(t, s, "other", "b", "B")
	first, kill := another(t, path)
	must(t, first.Drafts.SaveDraft(t.Context(), typed))
	take := func(conversation string) agent.Draft {
		t.Helper()
		u, err := s.Drafts.LoadDraft(t.Context(), conversation)
		must(t, err)
		return u
	}
	if u := take("c"); !u.Empty() {
		t.Errorf("taken from one that lives: %+v", u)
	}
	owned := filesWith(t, path+".unsent", "")
	must(t, os.WriteFile(filepath.Join(path+".unsent", owned[0]+".new-1"), []byte("line of a killed one"), 0o600))
	kill()
	if u := take("other"); !u.Empty() {
		t.Errorf("taken into another conversation: %+v", u)
	}
	want := typed
	want.Title = "a"
	if u := take("new"); !reflect.DeepEqual(u, want) {
		t.Errorf("got %+v, want %+v", u, want)
	}
	if left := filesWith(t, path+".unsent", "line of a killed one"); len(left) != 0 {
		t.Errorf("a killed one left %v", left)
	}
	second, end := another(t, path)
	if u, err := second.Drafts.LoadDraft(t.Context(), "c"); err != nil || !u.Empty() {
		t.Errorf("taken twice: %+v, %v", u, err)
	}
	end()
	must(t, s.Drafts.SaveDraft(t.Context(), agent.Draft{Conversation: "c"}))
	if left := filesWith(t, path+".unsent", ""); len(left) != 0 {
		t.Errorf("nothing is typed, and there is still %v", left)
	}
}

func TestADraftOfNoConversationIsLoadedInAny(t *testing.T) {
	s, path := openTemp(t)
	say(t, s, "c", "a", "A")
	say(t, s, "d", "a", "A")
	leave := func(conversation, text string) {
		t.Helper()
		other, kill := another(t, path)
		must(t, other.Drafts.SaveDraft(t.Context(), agent.Draft{Conversation: conversation, Text: text}))
		kill()
	}
	leave("c", "typed in c")
	leave("d", "typed in d")
	leave("never begun", "typed in none")
	for _, want := range []string{"typed in c", "typed in none", ""} {
		u, err := s.Drafts.LoadDraft(t.Context(), "c")
		if must(t, err); u.Text != want {
			t.Errorf("got %q, want %q", u.Text, want)
		}
		must(t, s.Drafts.SaveDraft(t.Context(), agent.Draft{}))
	}
	if u, err := s.Drafts.LoadDraft(t.Context(), "new"); err != nil || u.Text != "typed in d" {
		t.Errorf("got %+v, %v", u, err)
	}
}

func TestOneOfManyProcessesGetsADraft(t *testing.T) {
	s, path := openTemp(t)
	say(t, s, "c", "a", "A")
	first, kill := another(t, path)
	must(t, first.Drafts.SaveDraft(t.Context(), typed))
	kill()
	const many = 8
	got := make(chan agent.Draft, many)
	for range many {
		other, _ := another(t, path)
		go func() {
			u, err := other.Drafts.LoadDraft(t.Context(), "c")
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

// A message that was sent is in the conversation or still to be sent: never
// both, never neither.
func TestAMessageOnItsWayIsNeitherLostNorDoubled(t *testing.T) {
	for name, tc := range map[string]struct {
		begin string // the message of the turn that began; "": none did
		want  []string
	}{
		"killed before it was saved":               {"", []string{"what now?", "second"}},
		"killed after it was saved":                {"what now?", []string{"second"}},
		"killed after it was saved in other words": {"the prompt that it stands for", []string{"second"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, path := openTemp(t)
			say(t, s, "c", "what now?", "the same was asked before")
			first, kill := another(t, path)
			must(t, first.Drafts.SaveDraft(t.Context(), agent.Draft{Conversation: "c", Text: "what no"}))
			must(t, first.Drafts.SaveDraft(t.Context(), agent.Draft{Conversation: "c", Sending: "what now?", Waiting: []string{"second"}}))
			if tc.begin != "" {
				_, err := first.Begin(t.Context(), "c", tc.begin)
				must(t, err)
			}
			kill()
			if u, err := s.Drafts.LoadDraft(t.Context(), "c"); err != nil || !slices.Equal(u.Waiting, tc.want) || u.Sending != "" || u.Text != "" {
				t.Errorf("got %+v, %v", u, err)
			}
		})
	}
}

func TestTheEditorsFileIsTheDraft(t *testing.T) {
	s, path := openTemp(t)
	say(t, s, "c", "a", "A")
	first, kill := another(t, path)
	file, err := first.Drafts.DraftFile()
	must(t, err)
	must(t, first.Drafts.SaveDraft(t.Context(), agent.Draft{Conversation: "c", Text: "begun", Editing: true}))
	_, err = file.WriteString("begun, and written on\n\n")
	must(t, err)
	must(t, file.Close())
	write := filepath.Join(filepath.Dir(file.Name()), "."+filepath.Base(file.Name())+".swp")
	must(t, os.WriteFile(write, []byte("written on"), 0o600))
	kill()
	u, err := s.Drafts.LoadDraft(t.Context(), "c")
	if must(t, err); u.Text != "begun, and written on" || u.Editing {
		t.Errorf("got %+v", u)
	}
	if _, err := os.Stat(file.Name()); err == nil {
		t.Error("the editor's file is still there")
	}
}

func TestADeletedConversationLeavesNoDraft(t *testing.T) {
	s, path := openTemp(t)
	say(t, s, "c", "a", "A")
	say(t, s, "d", "b", "B")
	for _, conversation := range []string{"c", "d"} {
		other, kill := another(t, path)
		must(t, other.Drafts.SaveDraft(t.Context(), agent.Draft{Conversation: conversation, Text: "zebraword of " + conversation, Editing: true}))
		file, err := other.Drafts.DraftFile()
		must(t, err)
		_, err = file.WriteString("gnuword of " + conversation)
		must(t, err)
		must(t, file.Close())
		must(t, os.WriteFile(file.Name()+"~", []byte("gnuword of "+conversation), 0o600))
		kill()
	}
	must(t, s.Remove(t.Context(), "c"))
	for _, name := range filesWith(t, filepath.Dir(path), "word of c") {
		t.Errorf("%s holds it still", name)
	}
	if u, err := s.Drafts.LoadDraft(t.Context(), "d"); err != nil || u.Text != "gnuword of d" {
		t.Errorf("what was typed in another is %+v, %v", u, err)
	}
}

func TestDraftsArePrivate(t *testing.T) {
	s, path := openTemp(t)
	must(t, s.Drafts.SaveDraft(t.Context(), typed))
	for _, name := range filesWith(t, path+".unsent", "") {
		info, err := os.Stat(filepath.Join(path+".unsent", name))
		must(t, err)
		if info.Mode().Perm()&0o077 != 0 || !strings.HasSuffix(name, ".json") {
			t.Errorf("%s has mode %o", name, info.Mode().Perm())
		}
	}
	memory, err := store.InMemory()
	must(t, err)
	defer memory.Close()
	must(t, memory.Drafts.SaveDraft(t.Context(), typed))
	if u, err := memory.Drafts.LoadDraft(t.Context(), "c"); err != nil || !u.Empty() {
		t.Errorf("a conversation that is not saved found %+v, %v", u, err)
	}
}
