//go:build unix

package files

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lifehub/internal/testenv"
)

func open(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := Open(path, url.Values{"_txlock": {"immediate"}, "_pragma": {"synchronous(full)"}})
	if err == nil {
		err = UseJournal(t.Context(), db)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// openLog opens a database as earlier versions did, with a write-ahead log.
func openLog(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := Open(path, url.Values{"_txlock": {"immediate"}, "_pragma": {"journal_mode(wal)", "synchronous(full)"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func insert(t testing.TB, db *sql.DB, numbers ...int) {
	t.Helper()
	if _, err := db.Exec(`CREATE TABLE IF NOT EXISTS numbers (n INTEGER PRIMARY KEY)`); err != nil {
		t.Fatal(err)
	}
	for _, n := range numbers {
		if _, err := db.Exec(`INSERT INTO numbers VALUES (?)`, n); err != nil {
			t.Fatal(err)
		}
	}
}

func mode(t testing.TB, db *sql.DB) (mode string) {
	t.Helper()
	if err := db.QueryRow(`PRAGMA journal_mode`).Scan(&mode); err != nil {
		t.Error(err)
	}
	return mode
}

// attacks are modifications of the journal by other programs. None loses committed
// data: it is in the file.
var attacks = map[string]func(path string) error{
	"cut":      func(path string) error { return os.Truncate(path+"-journal", 0) },
	"cut off":  func(path string) error { return os.Truncate(path+"-journal", 600) },
	"removed":  func(path string) error { return os.Remove(path + "-journal") },
	"zeroed":   func(path string) error { return replace(path+"-journal", make([]byte, 32768)) },
	"no more":  func(path string) error { return replace(path+"-journal", []byte("no journal at all")) },
	"a log":    func(path string) error { return replace(path+"-wal", []byte("no log at all")) },
	"an index": func(path string) error { return replace(path+"-shm", make([]byte, 32768)) },
}

func replace(path string, by []byte) error {
	if err := os.WriteFile(path+".other", by, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".other", path)
}

// An idle database continues as if nothing had happened.
func TestAttackOnAnIdleDatabaseIsNotNoticed(t *testing.T) {
	t.Parallel()
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "a.db")
			write, read := open(t, path), open(t, path)
			for n := range 5 {
				insert(t, write, 2*n)
				if err := attack(path); err != nil {
					t.Fatal(err)
				}
				if n%2 == 0 {
					if got := count(t, read); got != 2*n+1 {
						t.Errorf("there are %d rows, want %d", got, 2*n+1)
					}
				}
				insert(t, write, 2*n+1)
			}
			whole(t, write, 10)
			read.Close()
			write.Close()
			whole(t, open(t, path), 10)
		})
	}
}

// Attacks while the database is in use must neither crash the process, nor block
// a call, nor lose acknowledged data.
func TestAttacksUnderLoadLoseNothing(t *testing.T) {
	t.Parallel()
	times := 20
	if os.Getenv("LIFEHUB_SOAK") != "" {
		times = 500
	}
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.db")
			write, read := open(t, path), open(t, path)
			write.SetMaxOpenConns(1)
			insert(t, write)
			var over atomic.Bool
			var all sync.WaitGroup
			var acknowledged []int
			progress := make(chan struct{})
			all.Go(func() {
				defer close(progress)
				for n := 0; !over.Load(); n++ {
					if _, err := write.Exec(`INSERT INTO numbers VALUES (?)`, n); err == nil {
						acknowledged = append(acknowledged, n)
					}
					progress <- struct{}{}
				}
			})
			for range 2 {
				all.Go(func() {
					for !over.Load() {
						var n, last int
						// may fail
						_ = read.QueryRow(`SELECT count(*), coalesce(max(n), 0) FROM numbers`).Scan(&n, &last)
					}
				})
			}
			for range times {
				<-progress
				_ = attack(path) // it may hit the moment between two files
				<-progress
			}
			over.Store(true)
			for range progress { //nolint:revive // ends with the writer
			}
			all.Wait()
			check := func(db *sql.DB) {
				t.Helper()
				for _, n := range acknowledged {
					var found bool
					if err := db.QueryRow(`SELECT count(*) FROM numbers WHERE n = ?`, n).Scan(&found); err != nil ||
						!found {
						t.Fatalf("%d was acknowledged and is lost (%v)", n, err)
					}
				}
				whole(t, db, -1)
			}
			if len(acknowledged) < times {
				t.Errorf("only %d of %d writes succeeded", len(acknowledged), 2*times)
			}
			check(write)
			read.Close()
			write.Close()
			check(open(t, path))
		})
	}
}

// A database of an earlier version is converted with what is in its log.
func TestLogIsConvertedWithoutLoss(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	old := openLog(t, path)
	insert(t, old, 1, 2, 3)
	left := filepath.Join(t.TempDir(), "a.db") // as a kill leaves it
	for _, ending := range []string{"", "-wal"} {
		content, err := os.ReadFile(path + ending)
		if err != nil || len(content) == 0 {
			t.Fatalf("%s: %d bytes, %v", ending, len(content), err)
		}
		if err := os.WriteFile(left+ending, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db := open(t, left)
	whole(t, db, 3)
	if got := mode(t, db); got != "truncate" {
		t.Errorf("the journal is %s", got)
	}
	if _, err := os.Stat(left + "-wal"); err == nil {
		t.Error("the log is still there")
	}
}

// While a process of an earlier version has the database open, both use its log.
func TestLogInUseStaysUntilItIsClosed(t *testing.T) {
	t.Parallel()
	if path := os.Getenv("DATABASE_CHILD"); path != "" {
		child(t, path)
		return
	}
	path := filepath.Join(t.TempDir(), "a.db")
	made := openLog(t, path)
	insert(t, made)
	made.Close()
	other := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	other.Env = append(os.Environ(), "DATABASE_CHILD="+path)
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Process.Kill(); other.Wait() })
	answers := bufio.NewScanner(out)
	var db *sql.DB
	for n := range 20 {
		fmt.Fprintln(in, 2*n)
		if !answers.Scan() || answers.Text() != "ok" {
			t.Fatalf("the other process: %q", answers.Text())
		}
		if n == 0 {
			db = open(t, path)
		}
		insert(t, db, 2*n+1)
		if got := count(t, db); got != 2*n+2 {
			t.Errorf("there are %d rows, want %d", got, 2*n+2)
		}
	}
	if got := mode(t, db); got != "wal" {
		t.Errorf("while the other process has it open, the journal is %s", got)
	}
	in.Close()
	for answers.Scan() { //nolint:revive // until it has ended
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	again := open(t, path)
	whole(t, again, 40)
	if got := mode(t, again); got != "truncate" {
		t.Errorf("the journal is %s", got)
	}
}

// child inserts the numbers that it reads, with a write-ahead log.
func child(t *testing.T, path string) {
	db := openLog(t, path)
	for numbers := bufio.NewScanner(os.Stdin); numbers.Scan(); {
		if _, err := db.Exec(`INSERT INTO numbers VALUES (` + numbers.Text() + `)`); err != nil {
			fmt.Println("failed:", err)
		} else {
			fmt.Println("ok")
		}
	}
}

// A write waits for a reader, and does not fail.
func TestLongReaderMakesNoWriteFail(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	write, read := open(t, path), open(t, path)
	insert(t, write, 1, 2)
	rows, err := read.Query(`SELECT n FROM numbers`)
	if err != nil || !rows.Next() {
		t.Fatal(err)
	}
	written := make(chan error)
	go func() {
		_, err := write.Exec(`INSERT INTO numbers VALUES (3)`)
		written <- err
	}()
	select {
	case err := <-written:
		t.Errorf("written while there was a reader: %v", err)
	case <-time.After(time.Second):
	}
	rows.Close()
	if err := <-written; err != nil {
		t.Error(err)
	}
	whole(t, read, 3)
}

func count(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	if err := db.QueryRow(`SELECT count(*) FROM numbers`).Scan(&n); err != nil {
		t.Error(err)
	}
	return n
}

// whole checks the integrity of a database and the number of its rows; -1 means
// any.
func whole(t *testing.T, db *sql.DB, want int) {
	t.Helper()
	var verdict string
	if err := db.QueryRow(`PRAGMA integrity_check`).Scan(&verdict); err != nil || verdict != "ok" {
		t.Error(verdict, err)
	}
	if got := count(t, db); want >= 0 && got != want {
		t.Errorf("there are %d rows, want %d", got, want)
	}
}

// A begin that is interrupted as it succeeds must not leave a transaction on its
// connection, which would make every later write fail. Thousands of attempts are
// needed to hit this moment.
func TestCancelledBeginLeavesNoTransaction(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8)) // so that preemption may happen anywhere, even on two cores
	db := open(t, filepath.Join(t.TempDir(), "a.db"))
	db.SetMaxOpenConns(1)
	for i := range testenv.Rounds(20_000, 20_000) {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for range i % 100 * 30 {
				_ = ctx.Err()
			}
			cancel()
		}()
		if tx, err := db.BeginTx(ctx, nil); err == nil {
			tx.Rollback()
		}
		tx, err := db.Begin()
		if err != nil {
			t.Fatalf("after begin %d, which was cancelled: %v", i, err)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
}
