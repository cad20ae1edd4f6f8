package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/store/file"
)

func TestNewerSchemaIsRejectedAndUnchanged(t *testing.T) {
	t.Parallel()
	s, path := openTemp(t)
	say(t, s, "c", "q", "a")
	if _, err := s.file.Write.Exec("UPDATE schema SET version = 99"); err != nil {
		t.Fatal(err)
	}
	_, err := Open(path)
	var newer *file.NewerSchemaError
	if !errors.As(err, &newer) || newer.Has != 99 || !strings.Contains(err.Error(), "update LifeHub") || !strings.Contains(err.Error(), path) {
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
	newer := append(append([]string{}, migrations...), "ALTER TABLE conversations ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue'")
	if err := file.Migrate(s.file.Write, path, newer); err != nil {
		t.Fatal(err)
	}
	var colour string
	if err := s.file.Read.QueryRow("SELECT colour FROM conversations").Scan(&colour); err != nil || colour != "blue" {
		t.Errorf("got %q, %v", colour, err)
	}
	if v, err := file.SchemaVersion(s.file.Write); err != nil || v != len(newer) {
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
	if err := file.Migrate(s.file.Write, path, broken); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("version %d", len(broken))) {
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
