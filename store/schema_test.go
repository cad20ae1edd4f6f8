package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/agent"
)

func TestNewerSchemaIsRejectedAndUnchanged(t *testing.T) {
	t.Parallel()
	s, path := openTemp(t)
	say(t, s, "c", "q", "a")
	if _, err := s.file.Write.Exec("UPDATE schema SET version = 99"); err != nil {
		t.Fatal(err)
	}
	_, err := Open(path)
	var newer *NewerSchemaError
	if !errors.As(err, &newer) || newer.Has != 99 || !strings.Contains(err.Error(), "update LifeHub") ||
		!strings.Contains(err.Error(), path) {
		t.Fatalf("got %v", err)
	}
	if got := recent(t, s, "c", 6); got != "user:q assistant:a" {
		t.Errorf("the file was changed: %q", got)
	}
}

func TestOlderSchemaIsBackedUpBeforeMigration(t *testing.T) {
	t.Parallel()
	s, path := openTemp(t)
	say(t, s, "c", "q", "a")
	newer := append(append([]string{}, migrations...), "ALTER TABLE conversations ADD COLUMN colour TEXT NOT NULL "+
		"DEFAULT 'blue'")
	if err := Migrate(s.file.Write, path, newer); err != nil {
		t.Fatal(err)
	}
	var colour string
	if err := s.file.Read.QueryRow("SELECT colour FROM conversations").Scan(&colour); err != nil || colour != "blue" {
		t.Errorf("got %q, %v", colour, err)
	}
	if v, err := SchemaVersion(s.file.Write); err != nil || v != len(newer) {
		t.Errorf("got version %d, %v", v, err)
	}

	saved := fmt.Sprintf("%s.v%d.bak", path, len(migrations))
	info, err := os.Stat(saved)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		t.Errorf("others may read the backup: %o", mode)
	}
	old, err := Open(saved)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if got := recent(t, old, "c", 6); got != "user:q assistant:a" {
		t.Errorf("the backup holds %q", got)
	}
}

func TestFailedMigrationLeavesTheOldSchema(t *testing.T) {
	t.Parallel()
	s, path := openTemp(t)
	say(t, s, "c", "q", "a")
	broken := append(append([]string{}, migrations...), "ALTER TABLE turns ADD COLUMN x TEXT; SELECT nonsense")
	if err := Migrate(s.file.Write, path, broken); err == nil ||
		!strings.Contains(err.Error(), fmt.Sprintf("version %d", len(broken))) {
		t.Fatalf("got %v", err)
	}
	again, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if _, err := again.file.Read.Exec("SELECT x FROM turns"); err == nil {
		t.Error("half of the migration was kept")
	}
}

func TestFileThatIsNotADatabaseIsRejected(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lifehub.db")
	words := strings.Repeat("my diary, not a database\n", 100)
	if err := os.WriteFile(path, []byte(words), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "not a database") {
		t.Errorf("got %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != words {
		t.Error("the file was changed")
	}
}

// A conversation of an older version has its numbers of messages, and its memory has what is on the current path.
func TestMigratedConversationsAreCounted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lifehub.db")
	must(t, registerFunctions())
	db, err := Connect(path, 1, "_txlock=immediate")
	must(t, err)
	must(t, Migrate(db, "", migrations[:11]))
	_, err = db.Exec(`INSERT INTO conversations (id, title, created, updated, head) VALUES ('c', 'cats', 1, 1, 6),
		('empty', '', 1, 1, 0);
		INSERT INTO turns (id, conversation, number, state, started) VALUES ('c.1', 'c', 1, 'done', 1), ('c.2', 'c', 2,
		'failed', 1), ('c.3', 'c', 3, 'done', 1), ('c.4', 'c', 4, 'done', 1);
		INSERT INTO messages (id, conversation, parent, turn, role, text, created) VALUES (1, 'c', NULL, 'c.1', 'user',
		'one', 1), (2, 'c', 1, 'c.1', 'assistant', '1', 1),
			(3, 'c', 2, 'c.2', 'user', 'two', 1), (4, 'c', 3, 'c.2', 'assistant', '', 1), (5, 'c', 4, 'c.3', 'user',
			'three', 1), (6, 'c', 5, 'c.3', 'assistant', '3', 1),
			(7, 'c', 2, 'c.4', 'user', 'left', 1), (8, 'c', 7, 'c.4', 'assistant', '4', 1);
		INSERT INTO memories (turn, archived) VALUES ('c.1', 1), ('c.4', 1)`)
	must(t, err)
	must(t, db.Close())
	s, err := Open(path)
	must(t, err)
	defer s.Close()
	if w, err := s.Window(t.Context(), "c", 2); err != nil || w.Before != 3 || len(w.Exchanges) != 1 {
		t.Errorf("the window is %+v, %v", w, err)
	}
	if c, err := s.Conversation(t.Context(), "c"); err != nil || c.Messages != 7 {
		t.Errorf("the conversation is %+v, %v", c, err)
	}
	if n, err := s.Archived(t.Context()); err != nil || n != 1 {
		t.Errorf("%d exchanges are archived, %v", n, err)
	}
	turn := say(t, s, "c", "five", "")
	must(t, s.Progress(t.Context(), turn, "late", agent.Origin{})) // the turn is over
	if w, err := s.Window(t.Context(), "c", 2); err != nil || w.Before != 5 {
		t.Errorf("the window is %+v, %v", w, err)
	}
	if c, err := s.Conversation(t.Context(), "c"); err != nil || c.Messages != 8 {
		t.Errorf("the conversation is %+v, %v", c, err)
	}
	must(t, s.GoOn(t.Context(), "c", "c.4"))
	if n, err := s.Archive(t.Context(), "c", 0, false); err != nil || n != 1 {
		t.Errorf("%d exchanges of the branch were archived, %v", n, err)
	}
}
