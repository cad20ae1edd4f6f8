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
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/internal/testenv"
	"lifehub/store/file"
)

// sample makes a database of some conversations and a backup of it. killed
// leaves it as a process that was killed does, with its last turns in the log.
func sample(t *testing.T, dir string, killed bool) string {
	t.Helper()
	path := filepath.Join(dir, "lifehub.db")
	s, err := Open(path)
	must(t, err)
	for n := range 20 {
		for range 4 {
			say(t, s, fmt.Sprintf("talk%d", n), fmt.Sprintf("a question about %d", n), strings.Repeat("an answer of some length ", 20))
		}
	}
	_, err = s.Search(t.Context(), "question", 1)
	must(t, err)
	must(t, s.BackUp(t.Context()))
	must(t, s.Close())
	if !killed {
		return path
	}
	s, err = Open(path)
	must(t, err)
	for n := range 10 {
		say(t, s, fmt.Sprintf("late%d", n), "a late question", "a late answer")
	}
	left := t.TempDir()
	must(t, os.CopyFS(left, os.DirFS(dir))) // what a kill would leave
	must(t, s.Close())
	return filepath.Join(left, "lifehub.db")
}

// all reads everything that there is.
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

// harm flips bytes of a file or cuts it, and says how.
func harm(t *testing.T, random *rand.Rand, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	if len(data) == 0 {
		return "nothing to harm"
	}
	what := ""
	switch random.IntN(6) {
	case 0:
		n := random.IntN(len(data))
		data, what = data[:n], fmt.Sprintf("cut to %d", n)
	case 1:
		at := random.IntN(min(100, len(data)))
		data[at] ^= byte(1 + random.IntN(255))
		what = fmt.Sprintf("flipped %d of the header", at)
	case 2:
		at := random.IntN(len(data)) &^ 511
		for i := at; i < min(len(data), at+512); i++ {
			data[i] = 0
		}
		what = fmt.Sprintf("zeroed 512 from %d", at)
	default:
		for range 1 + random.IntN(8) {
			at := random.IntN(len(data))
			data[at] ^= byte(1 + random.IntN(255))
			what += fmt.Sprintf("flipped %d ", at)
		}
	}
	must(t, os.WriteFile(path, data, 0o600))
	return what
}

func TestDamageIsNeverPassedOverInSilence(t *testing.T) {
	t.Parallel()
	rounds := testenv.Rounds(40, 1000)
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("LIFEHUB_SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	random := rand.New(rand.NewPCG(seed, 0))
	for _, kind := range []struct {
		name   string
		killed bool
		file   string
	}{
		{"a closed file", false, "lifehub.db"},
		{"the log of a killed one", true, "lifehub.db-wal"},
	} {
		t.Run(kind.name, func(t *testing.T) {
			path := sample(t, t.TempDir(), kind.killed)
			want := whole(t, path)
			base := os.DirFS(filepath.Dir(path))
			var slowest time.Duration
			refused, warned, unharmed := 0, 0, 0
			for round := range rounds {
				dir := filepath.Join(t.TempDir(), "data")
				must(t, os.CopyFS(dir, base))
				what := harm(t, random, filepath.Join(dir, kind.file))
				fail := func(format string, args ...any) {
					t.Errorf("LIFEHUB_SEED=%d round %d, %s: %s", seed, round, what, fmt.Sprintf(format, args...))
				}
				path := filepath.Join(dir, "lifehub.db")
				before, err := os.ReadFile(path)
				must(t, err)
				began := time.Now()
				s, err := Open(path)
				took := time.Since(began)
				slowest = max(slowest, took)
				var damaged *file.DamagedError
				if errors.As(err, &damaged) {
					refused++
					if damaged.Backup == nil {
						fail("no backup is offered: %v", err)
					}
					if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
						fail("the damaged file was changed")
					}
					continue
				}
				if err != nil {
					fail("%v", err)
					continue
				}
				found, readErr := all(s)
				checked := s.Check(t.Context())
				switch {
				case s.Warning() != "" || errors.As(checked, &damaged):
					warned++
				case readErr != nil:
					fail("reading: %v", readErr)
				case !reflect.DeepEqual(found, want):
					fail("something is lost, and nothing is said")
				default:
					unharmed++
				}
				if err := s.Close(); err != nil && s.Warning() == "" {
					fail("close: %v", err)
				}
			}
			t.Logf("seed %d: %d damaged, %d refused with a backup, %d opened with a warning, %d read as before, slowest start %v", seed, rounds, refused, warned, unharmed, slowest)
			if slowest > 5*time.Second {
				t.Errorf("a start took %v, more than 5 s", slowest)
			}
		})
	}
}

func TestABackupIsRestoredAndTheDamagedFileIsKept(t *testing.T) {
	t.Parallel()
	path := sample(t, t.TempDir(), false)
	want := whole(t, path)
	data, err := os.ReadFile(path)
	must(t, err)
	copy(data, "no database at all")
	must(t, os.WriteFile(path, data, 0o600))
	_, err = Open(path)
	var damaged *file.DamagedError
	if !errors.As(err, &damaged) || damaged.Backup == nil || !strings.Contains(err.Error(), "chats restore") {
		t.Fatalf("got %v", err)
	}
	if _, again := Open(path); again == nil || again.Error() != err.Error() {
		t.Errorf("the second start says %v, the first said %v", again, err)
	}
	aside, err := file.Restore(path, damaged.Backup)
	must(t, err)
	if kept, _ := os.ReadFile(aside); !bytes.Equal(kept, data) {
		t.Error("the damaged file is not what it was")
	}
	s, err := Open(path)
	must(t, err)
	defer s.Close()
	must(t, s.Check(t.Context()))
	if found, err := all(s); err != nil || !reflect.DeepEqual(found, want) {
		t.Errorf("the backup does not hold all, %v", err)
	}
	if list := s.Aside(); len(list) != 1 || list[0] != aside {
		t.Errorf("set aside are %v", list)
	}
	if _, err := file.Restore(path, damaged.Backup); err == nil {
		t.Error("a file that is open was replaced")
	}
}

func TestOnlyAnUncleanEndIsChecked(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lifehub.db")
	unclean := func() bool {
		t.Helper()
		s, err := Open(path)
		must(t, err)
		defer func() { must(t, s.Close()) }()
		if s.Warning() != "" {
			t.Errorf("it warns: %s", s.Warning())
		}
		was := s.file.Unclean()
		must(t, s.Check(t.Context()))
		return was
	}
	if unclean() {
		t.Error("a new file is called unclean")
	}
	one, err := Open(path)
	must(t, err)
	two, err := Open(path)
	must(t, err)
	say(t, one, "c", "q", "a")
	must(t, one.Close())
	say(t, two, "c", "q", "a")
	must(t, two.Close())
	if unclean() {
		t.Error("a file that two have closed is called unclean")
	}
	killed, err := Open(path)
	must(t, err)
	say(t, killed, "c", "q", "a")
	must(t, killed.Close())
	must(t, os.WriteFile(path+".state", []byte("open\n"), 0o600)) // what a kill leaves of the mark
	if !unclean() {
		t.Error("an unclean end is not seen")
	}
}

// The mark must cost nothing that a user waits for.
func BenchmarkOpenOfAFileThatWasClosed(b *testing.B) {
	for _, messages := range []int{0, 5000, 50_000} {
		b.Run(fmt.Sprintf("%d messages", messages), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "lifehub.db")
			s, err := Open(path)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := s.file.Write.Exec(`PRAGMA synchronous = OFF`); err != nil {
				b.Fatal(err)
			}
			for range messages / 2 {
				turn, err := s.Begin(b.Context(), "c", "a question")
				if err == nil {
					err = s.Finish(b.Context(), turn, agent.Answer{Text: strings.Repeat("some words of an answer ", 40)})
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
			info, _ := os.Stat(path)
			for b.Loop() {
				s, err := Open(path)
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(info.Size())/1e6, "MB")
		})
	}
}

// The last commit has nothing behind it that would tell of its loss, and with
// its frame's header gone it looks like the rest of an earlier log.
func TestALastCommitWithoutItsFrameIsNoticed(t *testing.T) {
	t.Parallel()
	path := sample(t, t.TempDir(), true)
	log, err := os.ReadFile(path + "-wal")
	must(t, err)
	page := int(binary.BigEndian.Uint32(log[8:]))
	const logHeader, frameHeader = 32, 24
	last := 0
	for at := logHeader; at+frameHeader+page <= len(log); at += frameHeader + page {
		if bytes.Equal(log[at+8:at+16], log[16:24]) {
			last = at
		}
	}
	clear(log[last : last+frameHeader])
	must(t, os.WriteFile(path+"-wal", log, 0o600))
	s, err := Open(path)
	must(t, err)
	defer s.Close()
	if s.Warning() == "" {
		t.Error("the last change is lost, and nothing is said")
	}
}
