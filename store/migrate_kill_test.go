package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lifehub/internal/testenv"
)

// migrateEnv names a database for the child to open.
const migrateEnv = "LIFEHUB_TEST_MIGRATE"

// oldDatabase creates a database of the first schema, with conversations.
func oldDatabase(t *testing.T, path string, turns int) {
	t.Helper()
	db, err := Connect(path, 1, "_txlock=immediate")
	must(t, err)
	must(t, Migrate(db, "", migrations[:1]))
	tx, err := db.Begin()
	must(t, err)
	_, err = tx.Exec(`INSERT INTO conversations VALUES ('c', 'old talk', 1, 1, ?)`, 2*turns)
	must(t, err)
	for n := 1; n <= turns; n++ {
		turn := fmt.Sprintf("c.%d", n)
		_, err := tx.Exec(`INSERT INTO turns (id, conversation, number, state, detail, started) VALUES (?, 'c', ?,
			'done', '{"metrics":{"latency_ms":5,"model_calls":2,"prompt_tokens":1,"answer_tokens":1,"searches":1,"rag_hits":1,"tool_calls":1}}', 1)`, turn, n)
		must(t, err)
		_, err = tx.Exec(`INSERT INTO messages (conversation, parent, turn, role, text, created) VALUES ('c', nullif(?,
			0), ?, 'user', ?, 1), ('c', ?, ?, 'assistant', ?, 1)`,
			2*n-2, turn, fmt.Sprintf("question %d", n), 2*n-1, turn, strings.Repeat("words ", 50))
		must(t, err)
	}
	must(t, tx.Commit())
	must(t, db.Close())
}

func TestKilledMigrationLosesNothing(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	kills := testenv.Rounds(6, 200)
	const turns = 400
	base := t.TempDir()
	oldDatabase(t, filepath.Join(base, "lifehub.db"), turns)
	began := time.Now()
	migrateIn(t, base, -1)
	whole := time.Since(began) // duration without a kill
	old, brought := 0, 0
	for range kills {
		dir := migrateIn(t, base, time.Duration(rand.Int64N(int64(whole))))
		path := filepath.Join(dir, "lifehub.db")
		db, err := Connect(path, 1, "")
		must(t, err)
		version, err := SchemaVersion(db)
		must(t, err)
		must(t, db.Close())
		switch version {
		case 1:
			old++
		case len(migrations):
			brought++
		default:
			t.Fatalf("killed, it has schema %d, neither 1 nor %d", version, len(migrations))
		}
		s, err := Open(path)
		must(t, err)
		list, err := s.Exchanges(context.Background(), "c")
		must(t, err)
		if len(list) != turns || list[turns-1].Question != fmt.Sprintf("question %d", turns) ||
			list[0].Answer.Metrics.ModelCalls != 2 {
			t.Fatalf("%d of %d turns are left", len(list), turns)
		}
		if hits, err := s.Search(context.Background(), "", "question", 2*turns); err != nil || len(hits) != turns {
			t.Fatalf("%d of %d questions are found, %v", len(hits), turns, err)
		}
		var report string
		must(t, s.file.Read.QueryRow("PRAGMA quick_check").Scan(&report))
		if report != "ok" {
			t.Fatal(report)
		}
		must(t, s.Close())
	}
	t.Logf("%d kills within %v: %d left the old schema, %d the new one", kills, whole, old, brought)
}

// migrateIn lets a child open a copy of a database and kills it after a while; if
// while is negative, it lets the child finish.
func migrateIn(t *testing.T, base string, while time.Duration) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	must(t, os.CopyFS(dir, os.DirFS(base)))
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), migrateEnv+"="+filepath.Join(dir, "lifehub.db"))
	must(t, cmd.Start())
	if while >= 0 {
		timer := time.AfterFunc(while, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
	}
	if err := cmd.Wait(); err != nil && while < 0 {
		t.Fatal(err)
	}
	return dir
}
