package survive

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lifehub/internal/testenv"
	"lifehub/notes"
	"lifehub/rag"
	"lifehub/rag/encoder"
)

// smallDisk mounts a file system of 2 MB that everyone may write to.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m,mode=0777"); err != nil {
		t.Skipf("needs the right to mount a small tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// fill leaves this many bytes free, and returns a function that frees the rest.
func fill(t *testing.T, dir string, free int64) (empty func()) {
	t.Helper()
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, max(0, int64(disk.Bfree)*disk.Bsize-free)), 0o600); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
	}
}

// clear fails the test unless the child has reported the problem in plain words.
func clear(t *testing.T, name string, output childOutput, words ...string) {
	t.Helper()
	for _, bad := range []string{"panic:", "goroutine ", "fatal error:", "SIGSEGV"} {
		if strings.Contains(output.stderr, bad) {
			t.Fatalf("%s: the child broke:\n%s", name, output.stderr)
		}
	}
	if output.over > 0 {
		return // the fault was not reached, or did not matter
	}
	for _, word := range words {
		if strings.Contains(output.stderr, word) {
			return
		}
	}
	t.Fatalf("%s: the child says only %q after %v", name, output.stderr, output.lines)
}

// repaired checks that nothing acknowledged is lost, and that LifeHub works
// again.
func repaired(t *testing.T, name string, l *ledger) {
	t.Helper()
	l.check(t)
	sound(t, l.Dir)
	o := l.orders
	o.Fault, o.Files, o.User, o.Turns = "", 0, 0, 2
	output := run(t, o, 0, false)
	if output.over == 0 {
		t.Fatalf("%s: it does not work again: %v", name, output.lines)
	}
	l.add(t, output.lines)
	l.check(t)
}

// Line 3: the disk becomes full while messages, notes, the journal and the log
// are written.
func TestFullDiskLosesNothingAndRecovers(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	dir := smallDisk(t)
	refused, acknowledged := 0, 0
	for try := range testenv.Rounds(3, 100) {
		l := newLedger(orders{
			Dir: filepath.Join(dir, fmt.Sprint(try)), Work: "chat", Name: "c",
			Turns: 20, Fault: "full",
		})
		l.failing = true
		furnish(t, l.Dir)
		first := l.orders
		first.Turns, first.Fault = 1, ""
		l.add(t, run(t, first, 0, false).lines)
		empty := fill(t, dir, random.Int64N(700<<10))
		output := run(t, l.orders, 0, false)
		acknowledged += l.add(t, output.lines)
		clear(t, fmt.Sprintf("try %d", try), output, "full", "no space left")
		if output.over == 0 {
			refused++
		}
		empty()
		repaired(t, fmt.Sprintf("try %d", try), l)
		if err := os.RemoveAll(l.Dir); err != nil {
			t.Fatal(err)
		}
	}
	if refused == 0 {
		t.Error("the disk was never full: the test shows nothing")
	}
	t.Logf("%d times full, %d items acknowledged, 0 lost; worked again each time", refused, acknowledged)
}

func TestFullDiskDuringIndexingIsReportedAndRepaired(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	dir := smallDisk(t)
	refused := 0
	for try := range testenv.Rounds(2, 20) {
		place := filepath.Join(dir, fmt.Sprint(try))
		furnish(t, place)
		for i := range 50 {
			if err := os.WriteFile(filepath.Join(vault(place), fmt.Sprintf("note%d.md", i)),
				[]byte(strings.Repeat(fmt.Sprintf("words of note %d\n", i), 200)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		folder, err := notes.Open(vault(place))
		if err != nil {
			t.Fatal(err)
		}
		index := func() error {
			x, err := rag.Open(filepath.Join(place, "index"), rag.Options{Vault: vault(place)})
			if err != nil {
				return err
			}
			defer x.Close()
			if _, err := x.Sync(t.Context(), folder, nil, nil); err != nil {
				return err
			}
			found, err := x.Search(t.Context(), rag.Query{Text: "words of note 7", Limit: 5})
			if err == nil && len(found.Passages) == 0 {
				err = fmt.Errorf("nothing is found")
			}
			return err
		}
		left := int64(1 << 20)
		if try%2 == 0 {
			left = 64 << 10 // less than the index of these notes needs
		}
		empty := fill(t, dir, random.Int64N(left))
		if err := index(); err != nil {
			refused++
			if !strings.Contains(err.Error(), "full") && !strings.Contains(err.Error(), "no space left") {
				t.Errorf("try %d: %v", try, err)
			}
		}
		empty()
		if err := index(); err != nil {
			t.Errorf("try %d: with space again: %v", try, err)
		}
		folder.Close()
		if err := os.RemoveAll(place); err != nil {
			t.Fatal(err)
		}
	}
	if refused == 0 {
		t.Error("the disk was never full: the test shows nothing")
	}
	t.Logf("%d times full while indexing; indexed each time when there was space again", refused)
}

// An index on a full or read-only disk can still be searched.
// not in parallel: a child of another test holds the disk's files
func TestIndexIsSearchedWhenTheDiskRefusesWrites(t *testing.T) {
	for name, refuse := range map[string]func(t *testing.T, disk string) (undo func()){
		"full": func(t *testing.T, disk string) func() { return fill(t, disk, 0) },
		"read-only": func(t *testing.T, disk string) func() {
			remount := func(flags uintptr) {
				if err := syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT|flags, "size=2m"); err != nil {
					t.Fatal(err)
				}
			}
			remount(syscall.MS_RDONLY)
			return func() { remount(0) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, disk := t.TempDir(), smallDisk(t)
			note := filepath.Join(dir, "note.md")
			if err := os.WriteFile(note, []byte("old words of the note\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			folder, err := notes.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer folder.Close()
			// open opens the index, syncs, and searches whatever the sync says.
			open := func(words string) error {
				x, err := rag.Open(filepath.Join(disk, "index"), rag.Options{Vault: dir})
				if err != nil {
					t.Fatal(err)
				}
				defer x.Close()
				_, syncing := x.Sync(t.Context(), folder, encoder.Encoder{}, nil)
				found, err := x.Search(t.Context(), rag.Query{Text: words})
				if err != nil || len(found.Passages) != 1 || found.Coverage.Embedder != (encoder.Encoder{}).Name() {
					t.Errorf("%s finds %+v, %v", words, found, err)
				}
				return syncing
			}
			if err := open("old words"); err != nil {
				t.Fatal(err)
			}
			undo := refuse(t, disk)
			if err := os.WriteFile(note, []byte(strings.Repeat("new words of the note\n", 20_000)), 0o644); err != nil {
				t.Fatal(err)
			}
			result := open("old words")
			undo()
			if result == nil || !strings.Contains(result.Error(),
				map[string]string{"full": "free some space", "read-only": "writable"}[name]) {
				t.Errorf("a sync says %v", result)
			}
			if err := os.WriteFile(note, []byte("new words of the note\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := open("new words"); err != nil {
				t.Errorf("with space again: %v", err)
			}
		})
	}
}

// Line 3, second part: other errors of a file system.
func TestErrorIsReportedWhenTheFileSystemRefuses(t *testing.T) {
	t.Parallel()
	random := seeded(t)
	type fault struct {
		name  string
		make  func(t *testing.T, l *ledger) (undo func())
		words []string
	}
	mode := func(name string, mode os.FileMode) func(*testing.T, *ledger) func() {
		return func(t *testing.T, l *ledger) func() {
			l.User = 65534 // root may write everywhere
			place := filepath.Join(l.Dir, name)
			info, err := os.Stat(place)
			if err == nil {
				err = os.Chmod(place, mode)
			}
			if err != nil {
				t.Fatal(err)
			}
			return func() { _ = os.Chmod(place, info.Mode().Perm()) }
		}
	}
	denied := []string{"permission denied", "readonly", "read-only", "unable to open", "attempt to write"}
	faults := []fault{
		{"data folder cannot be written", mode(".", 0o555), denied},
		{"data folder cannot be read", mode(".", 0o000), denied},
		{"database cannot be written", mode("lifehub.db", 0o444), denied},
		{"database cannot be read", mode("lifehub.db", 0o000), denied},
		{"notes cannot be written", mode("vault", 0o555), denied},
		{"a note cannot be read", mode("vault/tasks.md", 0o000), denied},
		{"another's data folder", func(t *testing.T, l *ledger) func() {
			l.User = 65534
			own(t, l.Dir, 0)
			return func() {}
		}, denied},
	}
	for range testenv.Rounds(3, 12) {
		files := 8 + random.IntN(24)
		faults = append(faults, fault{fmt.Sprintf("%d open files", files), func(_ *testing.T, l *ledger) func() {
			l.Files = files
			return func() {}
		}, []string{"too many open files", "unable to open"}})
	}
	strace, err := exec.LookPath("strace")
	if err == nil && exec.Command(strace, "-f", "-o", "/dev/null", "true").Run() == nil {
		for i := range testenv.Rounds(2, 16) {
			call := []string{"fsync", "pwrite64", "fdatasync", "openat"}[i%4]
			when := 1 + random.IntN(30)
			faults = append(faults, fault{
				fmt.Sprintf("EIO by %s from the %dth on", call, when),
				func(_ *testing.T, l *ledger) func() {
					l.Strace = []string{
						strace, "-f", "-qq", "-o", "/dev/null", "-P", database(l.Dir), "-P",
						database(l.Dir) + "-wal", "-P", vault(l.Dir), "-e",
						fmt.Sprintf("inject=%s:error=EIO:when=%d+", call, when),
					}
					return func() {}
				},
				[]string{"I/O error", "input/output error", "unable to open"},
			})
		}
	} else {
		t.Logf("without strace: no EIO")
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "survive")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			l := newLedger(orders{Dir: dir, Work: "chat", Name: "c", Turns: 1})
			l.failing = true
			furnish(t, dir)
			l.add(t, run(t, l.orders, 0, false).lines)
			own(t, dir, 65534)
			faulty := *l
			faulty.Fault, faulty.Turns = f.name, 3
			undo := f.make(t, &faulty)
			output := run(t, faulty.orders, 0, false)
			undo()
			own(t, dir, 0)
			l.add(t, output.lines)
			clear(t, f.name, output, f.words...)
			repaired(t, f.name, l)
		})
	}
}

// own changes the owner of a folder and everything in it.
func own(t *testing.T, dir string, user int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, user, user)
	})
	if err != nil {
		t.Skipf("needs the right to give files away: %v", err)
	}
}
