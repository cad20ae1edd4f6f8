package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/internal/testenv"
)

// sample creates a database with some conversations and a backup of it. If killed
// is set, the database is left as by a killed process.
func sample(t *testing.T, dir string, killed bool) string {
	t.Helper()
	path := filepath.Join(dir, "lifehub.db")
	s, err := Open(path)
	must(t, err)
	for n := range 20 {
		for range 4 {
			say(t, s, fmt.Sprintf("talk%d", n), fmt.Sprintf("a question about %d", n),
				strings.Repeat("an answer of some length ", 20))
		}
	}
	_, err = s.Search(t.Context(), "", "question", 1)
	must(t, err)
	must(t, s.BackUp(t.Context()))
	must(t, s.Close())
	if !killed {
		return path
	}
	s, err = Open(path)
	must(t, err)
	late(t, s)
	path = afterKill(t, path)
	must(t, s.Close())
	return path
}

func late(t *testing.T, s *Store) {
	t.Helper()
	for n := range 10 {
		say(t, s, fmt.Sprintf("late%d", n), "a late question", "a late answer")
	}
}

// afterKill copies the files that a kill would leave.
func afterKill(t *testing.T, path string) string {
	t.Helper()
	left := t.TempDir()
	must(t, os.CopyFS(left, os.DirFS(filepath.Dir(path))))
	return filepath.Join(left, filepath.Base(path))
}

// useLog gives a database the write-ahead log that earlier versions had.
func useLog(t *testing.T, s *Store) {
	t.Helper()
	_, err := s.file.Write.Exec("PRAGMA journal_mode(wal)")
	must(t, err)
}

// interrupted returns the files of a process that was killed in a transaction,
// which had changed a part of the file.
func interrupted(t *testing.T, path string) string {
	t.Helper()
	db, err := Connect(path, 1, "_pragma=cache_size(1)")
	must(t, err)
	tx, err := db.Begin()
	must(t, err)
	_, err = tx.Exec(`UPDATE messages SET text = hex(randomblob(20000))`)
	must(t, err)
	left := afterKill(t, path)
	must(t, errors.Join(tx.Rollback(), db.Close()))
	journal, err := os.Stat(left + "-journal")
	must(t, err)
	before, err := os.ReadFile(path)
	must(t, err)
	if after, err := os.ReadFile(left); err != nil || journal.Size() == 0 || bytes.Equal(before, after) {
		t.Fatalf("nothing was written: %d bytes of journal, %v", journal.Size(), err)
	}
	return left
}

func TestInterruptedTransactionIsRolledBack(t *testing.T) {
	t.Parallel()
	path := sample(t, t.TempDir(), false)
	want := whole(t, path)
	left := interrupted(t, path)
	for _, open := range []func(path string) (*Store, error){
		func(path string) (*Store, error) {
			d, err := Snapshot(path, migrations)
			return newStore(d), err
		},
		Open, // changes the file
	} {
		s, err := open(left)
		must(t, err)
		found, err := all(s)
		must(t, err)
		must(t, s.Close())
		if !reflect.DeepEqual(found, want) {
			t.Error("the file is not what it was before the transaction")
		}
	}
}

// all reads all conversations.
func all(s *Store) (map[string][]agent.Exchange, error) {
	list, err := s.Conversations(context.Background(), 0)
	if err != nil {
		return nil, err
	}
	everything := map[string][]agent.Exchange{}
	for _, c := range list {
		if everything[c.ID+" "+c.Title], err = s.Exchanges(context.Background(), c.ID); err != nil {
			return nil, err
		}
	}
	return everything, nil
}

func whole(t *testing.T, path string) map[string][]agent.Exchange {
	t.Helper()
	dir := t.TempDir()
	must(t, os.CopyFS(dir, os.DirFS(filepath.Dir(path))))
	s, err := Open(filepath.Join(dir, "lifehub.db"))
	must(t, err)
	defer s.Close()
	everything, err := all(s)
	must(t, err)
	return everything
}

// harm damages the structure of a database and returns a description. It does not
// flip bytes inside a text, which SQLite cannot notice.
func harm(t *testing.T, random *rand.Rand, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	page := int(binary.BigEndian.Uint16(data[16:]))
	n := random.IntN(len(data) / page)
	header := n * page // header of the page
	if n == 0 {
		header = 100 // after the header of the file
	}
	what := ""
	switch random.IntN(5) {
	case 0:
		size := random.IntN(len(data))
		data, what = data[:size], fmt.Sprintf("cut to %d", size)
	case 1:
		at := random.IntN(100)
		data[at] ^= byte(1 + random.IntN(255))
		what = fmt.Sprintf("flipped %d of the file's header", at)
	case 2:
		clear(data[header : (n+1)*page])
		what = fmt.Sprintf("zeroed page %d", n+1)
	default:
		at := random.IntN(8)
		data[header+at] ^= byte(1 + random.IntN(255))
		what = fmt.Sprintf("flipped %d of the header of page %d", at, n+1)
	}
	must(t, os.WriteFile(path, data, 0o600))
	return what
}

// A damaged file is rejected on opening, reading or backup, or all data is
// intact.
func TestDamageIsNeverSilent(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	rounds := testenv.Rounds(40, 1000)
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprintf("killed %t", killed), func(t *testing.T) {
			seed, random := seeded()
			path := sample(t, t.TempDir(), killed)
			want := whole(t, path)
			base := os.DirFS(filepath.Dir(path))
			var slowest time.Duration
			refused, noticed, unharmed := 0, 0, 0
			for round := range rounds {
				dir := filepath.Join(t.TempDir(), "data")
				must(t, os.CopyFS(dir, base))
				path := filepath.Join(dir, "lifehub.db")
				what := harm(t, random, path)
				fail := func(format string, args ...any) {
					t.Errorf("LIFEHUB_SEED=%d round %d, %s: %s", seed, round, what, fmt.Sprintf(format, args...))
				}
				before, err := os.ReadFile(path)
				must(t, err)
				began := time.Now()
				s, err := Open(path)
				slowest = max(slowest, time.Since(began))
				var damaged *DamagedError
				if err != nil {
					refused++
					if errors.As(err, &damaged) && damaged.Backup == nil {
						fail("no backup is offered: %v", err)
					}
					if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
						fail("the damaged file was changed")
					}
					continue
				}
				s.now = func() time.Time { return time.Now().Add(25 * time.Hour) }
				found, readErr := all(s)
				backUp := s.BackUp(t.Context())
				switch {
				case errors.As(backUp, &damaged):
					noticed++
					if damaged.Backup == nil {
						fail("no backup is offered: %v", backUp)
					}
				case readErr != nil:
					noticed++
				case !reflect.DeepEqual(found, want):
					fail("something is lost, and nothing is said")
				default:
					unharmed++
				}
				_ = s.Close()
			}
			t.Logf("seed %d: %d damaged, %d refused, %d noticed later, %d read as before, slowest start %v", seed,
				rounds, refused, noticed, unharmed, slowest)
			if slowest > 5*time.Second {
				t.Errorf("a start took %v, more than 5 s", slowest)
			}
		})
	}
}

// seeded returns a random source and its seed; LIFEHUB_SEED repeats a run.
func seeded() (uint64, *rand.Rand) {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("LIFEHUB_SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	return seed, rand.New(rand.NewPCG(seed, 0))
}

// SQLite ignores a damaged log, which an earlier version left, from the damage on;
// everything before remains.
func TestDamagedLogKeepsEverythingBeforeTheDamage(t *testing.T) {
	t.Parallel()
	seed, random := seeded()
	path := sample(t, t.TempDir(), false)
	s, err := Open(path)
	must(t, err)
	useLog(t, s)
	late(t, s)
	path = afterKill(t, path)
	must(t, s.Close())
	want := whole(t, path)
	if len(want) != 30 {
		t.Errorf("of 30 conversations, 10 of them in the log, there are %d", len(want))
	}
	base := os.DirFS(filepath.Dir(path))
	for round := range testenv.Rounds(20, 500) {
		dir := filepath.Join(t.TempDir(), "data")
		must(t, os.CopyFS(dir, base))
		path := filepath.Join(dir, "lifehub.db")
		log, err := os.ReadFile(path + "-wal")
		must(t, err)
		log[random.IntN(len(log))] ^= byte(1 + random.IntN(255))
		must(t, os.WriteFile(path+"-wal", log[:1+random.IntN(len(log))], 0o600))
		s, err := Open(path)
		must(t, err)
		found, err := all(s)
		must(t, err)
		must(t, s.Close())
		for talk, exchanges := range want {
			if strings.HasPrefix(talk, "talk") && !reflect.DeepEqual(found[talk], exchanges) {
				t.Errorf("LIFEHUB_SEED=%d round %d: %s is not what it was", seed, round, talk)
			}
		}
	}
}

func TestDamagedFileIsNotBackedUp(t *testing.T) {
	t.Parallel()
	path := sample(t, t.TempDir(), false)
	old, err := Backups(path)
	must(t, err)
	s, err := Open(path)
	must(t, err)
	defer s.Close()
	s.now = func() time.Time { return time.Now().Add(25 * time.Hour) }
	var root int
	must(t, s.file.Read.QueryRow(`SELECT rootpage FROM sqlite_schema WHERE name = 'messages_by_parent'`).Scan(&root))
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	_, err = f.WriteAt(make([]byte, 4096), int64(root-1)*4096)
	must(t, errors.Join(err, f.Close()))
	var damaged *DamagedError
	if err := s.BackUp(t.Context()); !errors.As(err, &damaged) || damaged.Backup == nil {
		t.Errorf("got %v", err)
	}
	if now, err := Backups(path); err != nil || !reflect.DeepEqual(now, old) {
		t.Errorf("the backups are %v, %v, and were %v", now, err, old)
	}
}

func TestRestoreKeepsTheDamagedFile(t *testing.T) {
	t.Parallel()
	path := sample(t, t.TempDir(), false)
	want := whole(t, path)
	data, err := os.ReadFile(path)
	must(t, err)
	copy(data, "no database at all")
	must(t, os.WriteFile(path, data, 0o600))
	_, err = Open(path)
	var damaged *DamagedError
	if !errors.As(err, &damaged) || damaged.Backup == nil || !strings.Contains(err.Error(), "chats restore") {
		t.Fatalf("got %v", err)
	}
	if _, again := Open(path); again == nil || again.Error() != err.Error() {
		t.Errorf("the second start says %v, the first said %v", again, err)
	}
	aside, err := Restore(path, damaged.Backup)
	must(t, err)
	if kept, _ := os.ReadFile(aside); !bytes.Equal(kept, data) {
		t.Error("the damaged file is not what it was")
	}
	s, err := Open(path)
	must(t, err)
	defer s.Close()
	if found, err := all(s); err != nil || !reflect.DeepEqual(found, want) {
		t.Errorf("the backup does not hold all, %v", err)
	}
	if list := s.Aside(); len(list) != 1 || list[0] != aside {
		t.Errorf("set aside are %v", list)
	}
	if _, err := Restore(path, damaged.Backup); err == nil {
		t.Error("a file that is open was replaced")
	}
}

// A mark indicates an unclean exit; only then is the file checked on opening.
func TestCloseLeavesNoMark(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lifehub.db")
	must(t, os.WriteFile(path+".state", []byte("closed 4096 0badc0de\n"), 0o600)) // written by an earlier version
	one, err := Open(path)
	must(t, err)
	two, err := Open(path)
	must(t, err)
	say(t, one, "c", "q", "a")
	must(t, one.Close())
	say(t, two, "c", "q", "a")
	if mark, err := os.ReadFile(path + ".lock"); err != nil || len(mark) == 0 {
		t.Errorf("while it is open, the mark is %q, %v", mark, err)
	}
	must(t, two.Close())
	if left := filesWith(t, filepath.Dir(path), ""); !reflect.DeepEqual(left,
		[]string{"lifehub.db", "lifehub.db-journal", "lifehub.db.lock"}) {
		t.Errorf("left are %v", left)
	}
	for _, ending := range []string{"-journal", ".lock"} {
		if left, err := os.ReadFile(path + ending); err != nil || len(left) > 0 {
			t.Errorf("left in %s is %q, %v", ending, left, err)
		}
	}
}

// Nothing is in the file, but something is in its backup: it was not deleted by LifeHub.
func TestEmptiedFileIsDamaged(t *testing.T) {
	t.Parallel()
	for name, empty := range map[string]func(path string) error{
		"truncated": func(path string) error { return os.Truncate(path, 0) },
		"removed":   os.Remove,
		"without tables": func(path string) error {
			must(t, os.Remove(path))
			db, err := Connect(path, 1, "")
			must(t, err)
			return db.Close()
		},
		"without conversations": func(path string) error {
			db, err := Connect(path, 1, "")
			must(t, err)
			_, err = db.Exec("DELETE FROM conversations")
			return errors.Join(err, db.Close())
		},
	} {
		path := sample(t, t.TempDir(), false)
		want := whole(t, path)
		must(t, empty(path))
		for range 2 { // the second time it is what the first left
			var damaged *DamagedError
			if _, err := Open(path); !errors.As(err, &damaged) || damaged.Backup == nil ||
				!strings.Contains(err.Error(), path) {
				t.Fatalf("%s: got %v", name, err)
			}
		}
		_, err := Restore(path, NewestBackup(t.Context(), path))
		must(t, err)
		if got := whole(t, path); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the backup does not hold all", name)
		}
	}
}

// What is deleted is deleted from the backups too, so that nothing seems to be lost.
func TestFileWithoutConversationsIsNotDamaged(t *testing.T) {
	t.Parallel()
	path := sample(t, t.TempDir(), false)
	s, err := Open(path)
	must(t, err)
	list, err := s.Conversations(t.Context(), 0)
	must(t, err)
	for _, c := range list {
		must(t, s.Remove(t.Context(), c.ID))
	}
	must(t, s.Close())
	s, err = Open(path)
	must(t, err)
	must(t, s.Close())
}

// A backup is made once, whoever makes it, and none is damaged.
func TestConcurrentBackupsAreOne(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lifehub.db")
	var running sync.WaitGroup
	for n := range 8 {
		s, err := Open(path)
		must(t, err)
		defer s.Close()
		say(t, s, fmt.Sprint(n), "q", strings.Repeat("words ", 10_000))
		running.Go(func() {
			for range 3 {
				if err := s.BackUp(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	if list, err := Backups(path); err != nil || len(list) != 1 || NewestBackup(t.Context(), path) == nil {
		t.Errorf("the backups are %v, %v", list, err)
	}
	if names := filesWith(t, filepath.Join(filepath.Dir(path), "backups"), ""); len(names) != 1 {
		t.Errorf("there are %v", names)
	}
}
