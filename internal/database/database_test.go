//go:build unix

package database

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
)

func settings() url.Values {
	return url.Values{"_txlock": {"immediate"}, "_pragma": {"journal_mode(wal)", "synchronous(full)"}}
}

func open(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := Open(path, settings())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// attacks are modifications of the files next to a database by other programs.
// None loses committed data: it is in the log, which stays open.
var attacks = map[string]func(path string) error{
	"the index cut":          func(path string) error { return os.Truncate(path+"-shm", 0) },
	"the index cut to pages": func(path string) error { return os.Truncate(path+"-shm", 4096) },
	"the index removed":      func(path string) error { return os.Remove(path + "-shm") },
	"the index replaced":     func(path string) error { return replace(path + "-shm") },
	"the log removed":        func(path string) error { return os.Remove(path + "-wal") },
	"the log replaced":       func(path string) error { return replace(path + "-wal") },
}

func replace(path string) error {
	if err := os.WriteFile(path+".other", make([]byte, 32768), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".other", path)
}

// A new database has its log only after the pragmas. It must not be taken for one whose
// log was removed, which cannot be repaired where /proc is missing.
func TestNewDatabaseIsOpenedAtOnce(t *testing.T) {
	t.Parallel()
	c, err := newConnector(filepath.Join(t.TempDir(), "a.db"), settings())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := c.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

// An idle database continues as if nothing had happened.
func TestAttackOnAnIdleDatabaseIsNotNoticed(t *testing.T) {
	t.Parallel()
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "a.db")
			write, read := open(t, path), open(t, path)
			run := func(query string) {
				t.Helper()
				if _, err := write.Exec(query); err != nil {
					t.Fatal(err)
				}
			}
			run(`CREATE TABLE numbers (n INTEGER PRIMARY KEY)`)
			for n := range 5 {
				run(fmt.Sprintf(`INSERT INTO numbers VALUES (%d)`, 2*n))
				if err := attack(path); err != nil {
					t.Fatal(err)
				}
				if n%2 == 0 {
					if got := count(t, read); got != 2*n+1 {
						t.Errorf("there are %d rows, want %d", got, 2*n+1)
					}
				}
				tx, err := write.Begin()
				if err != nil {
					t.Fatal(err)
				}
				if _, err := tx.Exec(`INSERT INTO numbers VALUES (?)`, 2*n+1); err != nil {
					t.Fatal(err)
				}
				if err := tx.Commit(); err != nil {
					t.Fatal(err)
				}
			}
			whole(t, write, 10)
			read.Close()
			write.Close()
			whole(t, open(t, path), 10)
		})
	}
}

// Open transactions and rows end with an error; later ones succeed.
func TestFaultRollsBackTheTransaction(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path)
	for _, query := range []string{`CREATE TABLE numbers (n INTEGER PRIMARY KEY)`, `INSERT INTO numbers VALUES (1), (2)`} {
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := db.Query(`SELECT n FROM numbers`)
	if err != nil || !rows.Next() {
		t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(`INSERT INTO numbers VALUES (3)`); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path+"-shm", 0); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err == nil {
		t.Error("a commit to a cut index succeeded")
	}
	if rows.Next() || rows.Err() == nil {
		t.Error("rows of a lost connection go on")
	}
	if _, err := db.Exec(`INSERT OR IGNORE INTO numbers VALUES (3)`); err != nil {
		t.Error(err)
	}
	whole(t, db, 3)
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
			if _, err := write.Exec(`CREATE TABLE numbers (n INTEGER PRIMARY KEY)`); err != nil {
				t.Fatal(err)
			}
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
						_ = read.QueryRow(`SELECT count(*), max(n) FROM numbers`).Scan(&n, &last) // may fail
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
					if err := db.QueryRow(`SELECT count(*) FROM numbers WHERE n = ?`, n).Scan(&found); err != nil || !found {
						t.Fatalf("%d was acknowledged and is lost (%v)", n, err)
					}
				}
				whole(t, db, -1)
			}
			check(write)
			read.Close()
			write.Close()
			check(open(t, path))
			t.Logf("%d acknowledged", len(acknowledged))
		})
	}
}

// Two processes sharing a database lose nothing when its index is truncated.
func TestTruncatedIndexIsSharedByTwoProcesses(t *testing.T) {
	t.Parallel()
	if path := os.Getenv("DATABASE_CHILD"); path != "" {
		child(t, path)
		return
	}
	path := filepath.Join(t.TempDir(), "a.db")
	db := open(t, path)
	if _, err := db.Exec(`CREATE TABLE numbers (n INTEGER PRIMARY KEY)`); err != nil {
		t.Fatal(err)
	}
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
	output := bufio.NewScanner(out)
	want := map[int]bool{}
	for round := range 40 {
		if round%3 == 1 {
			if err := os.Truncate(path+"-shm", int64(round%2)*4096); err != nil {
				t.Fatal(err)
			}
		}
		mine, others := 2*round, 2*round+1
		if _, err := db.Exec(`INSERT INTO numbers VALUES (?)`, mine); err == nil {
			want[mine] = true
		}
		fmt.Fprintln(in, others)
		if !output.Scan() {
			t.Fatal("the other process is gone")
		}
		if output.Text() == "ok" {
			want[others] = true
		}
	}
	in.Close()
	for n := range want {
		var found bool
		if err := db.QueryRow(`SELECT count(*) FROM numbers WHERE n = ?`, n).Scan(&found); err != nil || !found {
			t.Errorf("%d was acknowledged and is lost (%v)", n, err)
		}
	}
	if len(want) < 60 {
		t.Errorf("only %d of 80 writes succeeded", len(want))
	}
	whole(t, db, -1)
}

// child inserts the numbers that it reads.
func child(t *testing.T, path string) {
	db := open(t, path)
	for numbers := bufio.NewScanner(os.Stdin); numbers.Scan(); {
		if _, err := db.Exec(`INSERT INTO numbers VALUES (` + numbers.Text() + `)`); err != nil {
			fmt.Println("failed:", err)
		} else {
			fmt.Println("ok")
		}
	}
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
	for i := range 20_000 {
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
