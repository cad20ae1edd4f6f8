package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"lifehub/agent"
)

// said saves a conversation of n turns.
func said(t *testing.T, s *Store, id string, n int) {
	t.Helper()
	for i := range n {
		turn, err := s.Begin(t.Context(), id, fmt.Sprint("question ", i))
		if err == nil {
			err = s.Finish(t.Context(), turn, agent.Answer{Text: fmt.Sprint("answer ", i, " ",
				bytes.Repeat([]byte("word "), 300))})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A snapshot contains everything committed, in the file or in the log that an
// earlier version left, and changes to it do not affect the file.
func TestSnapshotHoldsAllCommittedData(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lifehub.db")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for round := range 4 {
		said(t, s, "c", 5)
		switch round {
		case 1:
			useLog(t, s)
		case 2: // in other rounds some of it is in the log
			if _, err := s.file.Write.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
				t.Fatal(err)
			}
		}
		files := func() (all []byte) {
			for _, end := range []string{"", "-wal"} {
				text, err := os.ReadFile(path + end)
				if err != nil && (round > 1 || end == "") {
					t.Fatal(err)
				}
				all = append(all, text...)
			}
			return all
		}
		before := files()
		d, err := Snapshot(path, migrations)
		if err != nil {
			t.Fatal(err)
		}
		copied := newStore(d)
		exchanges, err := copied.Exchanges(t.Context(), "c")
		if err != nil || len(exchanges) != 5*(round+1) || copied.Warning() == "" {
			t.Errorf("round %d: %d exchanges, %v, warning %q", round, len(exchanges), err, copied.Warning())
		}
		said(t, copied, "c", 3)
		if hits, err := copied.Search(t.Context(), "", "question", 50); err != nil || len(hits) == 0 {
			t.Errorf("round %d: %d found, %v", round, len(hits), err)
		}
		if err := copied.Close(); err != nil {
			t.Error(err)
		}
		if !bytes.Equal(before, files()) {
			t.Errorf("round %d: the file has changed", round)
		}
	}
	d, err := Snapshot(path, migrations)
	if err != nil {
		t.Fatal(err)
	}
	var report string
	if err := d.Read.QueryRow("PRAGMA integrity_check").Scan(&report); err != nil || report != "ok" {
		t.Errorf("%s, %v", report, err)
	}
	if err := errors.Join(d.Close()); err != nil {
		t.Error(err)
	}
}
