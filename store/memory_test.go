package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
)

var _ agent.Memory = (*Store)(nil)

const window = 6 // messages

// archive archives messages beyond the window and checks the number of new
// exchanges.
func archive(t *testing.T, s *Store, conversation string, everywhere bool, want int) {
	t.Helper()
	got, err := s.Archive(t.Context(), conversation, window, everywhere)
	if err != nil || got != want {
		t.Fatalf("archived %d exchanges, %v; want %d", got, err, want)
	}
}

// remembered returns the questions of the exchanges recalled for a question.
func remembered(t *testing.T, s *Store, conversation, question string, everywhere bool) string {
	t.Helper()
	list, err := s.Similar(t.Context(), agent.MemoryQuery{
		Conversation: conversation, Everywhere: everywhere,
		Window: window, Question: question, Limit: 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	var questions []string
	for _, r := range list {
		questions = append(questions, r.Question)
	}
	slices.Sort(questions)
	return strings.Join(questions, "; ")
}

func TestOldestExchangeIsArchivedWhenTheWindowIsFull(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	for i, said := range []string{"My cat is called Whiskers", "two", "three"} {
		say(t, s, "c", said, fmt.Sprintf("answer %d", i))
		archive(t, s, "c", false, 0)
	}
	if got := remembered(t, s, "c", "What is my cat called?", false); got != "" {
		t.Errorf("what stands in the window came back: %s", got)
	}
	say(t, s, "c", "four", "answer 4")
	archive(t, s, "c", false, 1)
	archive(t, s, "c", false, 0)
	if got := remembered(t, s, "c", "What are cats called?", false); got != "My cat is called Whiskers" {
		t.Errorf("got %q", got)
	}
	list, err := s.Similar(t.Context(), agent.MemoryQuery{Conversation: "c", Window: window, Question: "cat", Limit: 1})
	if err != nil || len(list) != 1 || list[0].Answer != "answer 0" || list[0].Conversation != "c" ||
		list[0].Title != "My cat is called Whiskers" || list[0].Asked.IsZero() || list[0].BM25 <= 0 {
		t.Errorf("got %+v, %v", list, err)
	}
}

func TestMemoryFindsScriptsWithoutSpaces(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	say(t, s, "c", "我的猫叫小白", "好的")
	for range 3 {
		say(t, s, "c", "嗯", "嗯")
	}
	archive(t, s, "c", false, 1)
	if got := remembered(t, s, "c", "我的猫叫什么名字?", false); got != "我的猫叫小白" {
		t.Errorf("got %q", got)
	}
}

func TestScopeLimitsRecallToConversations(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	say(t, s, "old", "My cat is called Whiskers", "I see.")
	say(t, s, "new", "Hello", "Hi.")
	archive(t, s, "new", false, 0)
	if got := remembered(t, s, "new", "my cat", false); got != "" {
		t.Errorf("scope conversation brought %q", got)
	}
	archive(t, s, "new", true, 1) // the other conversation is archived completely
	if got := remembered(t, s, "new", "my cat", true); got != "My cat is called Whiskers" {
		t.Errorf("scope all brought %q", got)
	}
	if got := remembered(t, s, "new", "my cat", false); got != "" {
		t.Errorf("scope conversation brought %q", got)
	}
	archive(t, s, "new", true, 0)
	say(t, s, "old", "And my dog Rex", "I see.")
	archive(t, s, "new", true, 1) // the messages added there since
}

// branch continues from an earlier turn, as an edit or a fork does.
func branch(t *testing.T, s *Store, conversation, turn string) {
	t.Helper()
	must(t, s.GoOn(t.Context(), conversation, turn))
}

func TestBranchRecallsOnlyItsOwnPath(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	first := say(t, s, "c", "My name is Ana", "Hello Ana.")
	say(t, s, "c", "My cat is called Whiskers", "I see.")
	for range 3 {
		say(t, s, "c", "Hm.", "Yes.")
	}
	archive(t, s, "c", false, 2)
	branch(t, s, "c", first)
	say(t, s, "c", "My cat is called Tom", "I see.")
	for range 3 {
		say(t, s, "c", "Hm.", "Yes.")
	}
	archive(t, s, "c", false, 1)
	for _, everywhere := range []bool{false, true} {
		if got := remembered(t, s, "c", "the cat and the name Ana",
			everywhere); got != "My cat is called Tom; My name is Ana" {
			t.Errorf("everywhere %v: got %q", everywhere, got)
		}
	}
	say(t, s, "other", "Hello", "Hi.")
	if got := remembered(t, s, "other", "cat", true); got != "My cat is called Tom" {
		t.Errorf("another conversation sees a branch that was left: %q", got)
	}
}

func TestVectorsOfAnotherEmbedderAreIgnored(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	turn := say(t, s, "c", "My cat is called Whiskers", "I see.")
	for range 3 {
		say(t, s, "c", "Hm.", "Yes.")
	}
	archive(t, s, "c", false, 1)
	meaning := func(embedder string, vector ...float32) float64 {
		list, err := s.Similar(t.Context(), agent.MemoryQuery{
			Conversation: "c", Window: window, Question: "kitten",
			Embedder: embedder, Vector: vector, Limit: 3,
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 {
			return 0
		}
		return list[0].Cosine
	}
	waits := func(embedder string) int {
		list, err := s.Unembedded(t.Context(), embedder, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	if waits("a") != 1 {
		t.Error("nothing waits to be embedded")
	}
	if err := s.SaveVectors(t.Context(), "a", map[string][]float32{turn: {3, 4}, "gone.1": {1, 0}}); err != nil {
		t.Fatal(err)
	}
	if got := meaning("a", 1, 0); got < 0.59 || got > 0.61 { // one byte per dimension
		t.Errorf("cosine %v, want 0.6", got)
	}
	if meaning("b", 1, 0) != 0 || meaning("a", 1, 0, 0) != 0 {
		t.Error("a vector of another embedder or dimension was compared")
	}
	if waits("a") != 0 || waits("b") != 1 {
		t.Errorf("%d wait for a, %d for b; want 0 and 1", waits("a"), waits("b"))
	}
	if err := s.SaveVectors(t.Context(), "b", map[string][]float32{turn: {0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if meaning("b", 0, 0, 1) != 1 || meaning("a", 1, 0) != 0 {
		t.Error("the new embedder's vector did not take the old one's place")
	}
}

// After a migration, exchanges are found by keywords immediately; only the
// vectors are missing.
func TestMigratedMemoryIsSearchable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lifehub.db")
	must(t, registerFunctions())
	db, err := Connect(path, 1, "_txlock=immediate")
	must(t, err)
	must(t, Migrate(db, "", migrations[:8]))
	_, err = db.Exec(`INSERT INTO conversations (id, title, created, updated, head, archived) VALUES ('c', 'cats', 1, 1,
		2, 2);
		INSERT INTO turns (id, conversation, number, state, started) VALUES ('c.1', 'c', 1, 'done', 1);
		INSERT INTO messages (id, conversation, parent, turn, role, text, created) VALUES (1, 'c', NULL, 'c.1', 'user',
		'My cat is called Whiskers', 1), (2, 'c', 1, 'c.1', 'assistant', 'I see.', 1);
		INSERT INTO memories (id, turn, archived) VALUES (7, 'c.1', 1);
		INSERT INTO memory_words (rowid, text) VALUES (7, 'my cat is called whiskers i see');
		INSERT INTO memory_vectors VALUES (7, 'a', 2, x'0000803f00000000');
		INSERT INTO message_words (rowid, words) VALUES (1, 'of another cut'); DELETE FROM unindexed`)
	must(t, err)
	must(t, db.Close())
	s, err := Open(path)
	must(t, err)
	defer s.Close()
	if got := remembered(t, s, "other", "What are cats called?", true); got != "My cat is called Whiskers" {
		t.Errorf("got %q", got)
	}
	if hits, err := s.Search(t.Context(), "", "whiskers", 10); err != nil || len(hits) != 1 {
		t.Errorf("a message is found %d times, %v", len(hits), err)
	}
	if list, err := s.Unembedded(t.Context(), "a", 0, 10); err != nil || len(list) != 1 {
		t.Errorf("%d exchanges wait for a vector, %v", len(list), err)
	}
	must(t, s.Remove(t.Context(), "c"))
	if got := remembered(t, s, "other", "What are cats called?", true); got != "" {
		t.Errorf("after it was removed: %q", got)
	}
}

func TestRemovedConversationLeavesNothingInMemory(t *testing.T) {
	t.Parallel()
	s, path := openTemp(t)
	say(t, s, "c", "My cat is called Xyzzyplugh", "I see.")
	for range 3 {
		say(t, s, "c", "Hm.", "Yes.")
	}
	archive(t, s, "c", false, 1)
	if err := s.SaveVectors(t.Context(), "a", map[string][]float32{"c.1": {1}}); err != nil {
		t.Fatal(err)
	}
	must(t, s.Remove(t.Context(), "c"))
	for _, table := range []string{"memories", "memory_vectors", "memory_terms"} {
		var n int
		if err := s.file.Read.QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s holds %d rows, %v", table, n, err)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(bytes.ToLower(raw), []byte("xyzzyplugh")) {
		t.Error("the words are still in the file")
	}
}
