package store

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lifehub/agent"
)

// filesWith lists the files below a folder that contain a text.
func filesWith(t *testing.T, dir, text string) []string {
	t.Helper()
	var found []string
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(bytes.ToLower(data), []byte(text)) {
			found = append(found, filepath.Base(path))
		}
		return err
	}))
	return found
}

func TestFailedRemovalIsReported(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	say(t, s, "c", "What is it?", "It is there.")
	_, err := s.file.Write.ExecContext(t.Context(), `CREATE TRIGGER refuse BEFORE DELETE ON conversations BEGIN SELECT raise(ABORT, 'not now'); END`)
	must(t, err)
	if err := s.Remove(t.Context(), "c"); err == nil || errors.Is(err, ErrNoConversation) ||
		!strings.Contains(err.Error(), "not now") {
		t.Errorf("got %v", err)
	}
}

func TestRemovedTextIsErasedFromAllFiles(t *testing.T) {
	t.Parallel()
	s, path := openTemp(t)
	other, err := Open(path) // another process has the file open
	must(t, err)
	defer other.Close()
	for range 40 {
		say(t, s, "keep", "about zebras", "zebras "+strings.Repeat("graze ", 100))
		turn := say(t, s, "gone", "about quokkas", "quokkas "+strings.Repeat("quokkastare ", 300))
		must(t, s.Changing(t.Context(), turn, agent.NoteChange{
			Vault: "/v", Path: "quokkanote.md",
			Before: []byte("quokkabefore"), After: "1",
		}))
	}
	must(t, s.Rename(t.Context(), "gone", "Quokkatitle"))
	if hits, err := s.Search(t.Context(), "", "quokka", 5); err != nil || len(hits) == 0 {
		t.Fatalf("got %v, %v", hits, err)
	}
	if _, err := other.Exchanges(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	must(t, s.BackUp(t.Context()))
	must(t, Copy(t.Context(), s.file.Write, path+".v1.bak"))
	if found := filesWith(t, filepath.Dir(path), "quokka"); len(found) < 3 {
		t.Fatalf("only %v hold the text before: the test shows nothing", found)
	}

	if err := s.Remove(t.Context(), "gone", "nope"); !errors.Is(err, ErrNoConversation) {
		t.Errorf("got %v", err)
	}
	must(t, os.WriteFile(filepath.Join(filepath.Dir(path), "backups", "lifehub.db.20261121T070000Z.part"),
		[]byte("quokka"), 0o600))
	must(t, s.Remove(t.Context(), "gone"))
	if found := filesWith(t, filepath.Dir(path), "quokka"); len(found) > 0 {
		t.Errorf("the text is still in %v", found)
	}
	if hits, err := other.Search(t.Context(), "", "zebras", 100); err != nil || len(hits) != 80 {
		t.Errorf("of what was kept %d messages are found, %v", len(hits), err)
	}
	list, err := Backups(path)
	must(t, err)
	saved, err := Open(list[0].Path)
	must(t, err)
	defer saved.Close()
	if kept, err := saved.Exchanges(t.Context(), "keep"); err != nil || len(kept) != 40 {
		t.Errorf("the backup holds %d of what was kept, %v", len(kept), err)
	}
}

func TestTracesQuotingARemovedConversationAreDeleted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lifehub.db")
	s, err := Open(path)
	must(t, err)
	say(t, s, "ab12gone", "about quokkas", "They graze.")
	told := say(t, s, "reader", "what of quokkas?", "You asked of them.")
	other := say(t, s, "other", "about zebras", "They graze.")
	for turn, line := range map[string]string{
		told:  `{"prompt":"A relevant past exchange, in \"about quokkas\" (ab12gone)."}`,
		other: `{"prompt":"nothing of ab12gone2"}`,
	} {
		w := s.Traces.Begin(turn, Limits{Turn: 1 << 20, Total: 1 << 20})
		_, err := w.Write([]byte(line + "\n"))
		must(t, err)
		must(t, w.Close())
	}
	must(t, s.Close()) // saves the traces
	s, err = Open(path)
	must(t, err)
	defer s.Close()
	must(t, s.BackUp(t.Context()))
	list, err := Backups(path)
	must(t, err)
	must(t, s.Remove(t.Context(), "ab12gone"))
	saved, err := Open(list[0].Path)
	must(t, err)
	defer saved.Close()
	for name, in := range map[string]*Store{"the conversations": s, "the backup": saved} {
		if _, err := in.Traces.Read(t.Context(), told); !errors.Is(err, ErrNone) {
			t.Errorf("%s: the trace that was told of it: %v", name, err)
		}
		if _, err := in.Traces.Read(t.Context(), other); err != nil {
			t.Errorf("%s: another trace: %v", name, err)
		}
	}
}

// Remove relies on cascading deletes.
func TestTablesWithTextCascadeFromConversations(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	rows, err := s.file.Read.Query(`SELECT t.name, (SELECT count(*) FROM pragma_foreign_key_list(t.name) f
		WHERE f.on_delete = 'CASCADE')
		FROM sqlite_schema t WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name NOT LIKE 'message_words%'
		AND t.name NOT LIKE 'memory_terms%'`) // triggers see to these two
	must(t, err)
	defer rows.Close()
	// no text, the root itself, or deleted by Remove
	free := map[string]bool{
		"conversations": true, "schema": true, "unindexed": true, "gauges": true,
		"marks": true, "drafts": true,
	}
	for rows.Next() {
		var name string
		var cascades int
		must(t, rows.Scan(&name, &cascades))
		if cascades == 0 && !free[name] {
			t.Errorf("rows of %s stay when their conversation is removed", name)
		}
	}
}

func TestOnlyFiveDailyBackupsRemain(t *testing.T) {
	t.Parallel()
	s, path := openTemp(t)
	day := time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)
	s.now = func() time.Time { return day }
	must(t, s.BackUp(t.Context()))
	if list, _ := Backups(path); len(list) != 0 {
		t.Errorf("an empty store was backed up: %v", list)
	}
	say(t, s, "c", "q", "a")
	for range 16 {
		must(t, s.BackUp(t.Context()))
		day = day.Add(12 * time.Hour)
	}
	list, err := Backups(path)
	must(t, err)
	if len(list) != 5 || !list[0].Time.Equal(day.Add(-24*time.Hour)) || !list[4].Time.Equal(day.Add(-5*24*time.Hour)) {
		t.Errorf("got %v", list)
	}
	if len(filesWith(t, filepath.Dir(list[0].Path), "")) != 5 {
		t.Error("something else lies among the backups")
	}
}

func TestStoppedBackupLeavesNoPartialFile(t *testing.T) {
	t.Parallel()
	s, path := openTemp(t)
	say(t, s, "c", "q", strings.Repeat("words ", 1000))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.BackUp(ctx); err == nil {
		t.Error("a stopped backup says it was made")
	}
	if list, _ := Backups(path); len(list) != 0 {
		t.Errorf("got %v", list)
	}
}
