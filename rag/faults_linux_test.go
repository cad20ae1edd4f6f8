package rag

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lifehub/internal/pdftest"
	"lifehub/internal/testenv"
	"lifehub/notes"
	"lifehub/rag/vectors"
	"lifehub/rag/words"
)

// A program that is suspended at the wrong moment may hold a lock that keeps others
// from reading.
func TestLockedOutReaderGetsAnError(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, map[string]string{"a.md": "apple\n"})
	syncNow(t, x, folder, nil)
	file, err := os.OpenFile(x.wordsPath(0), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lock := unix.Flock_t{Type: unix.F_WRLCK, Start: 0x40000000, Len: 512}       // SQLite's, of the file as a whole
	if err := unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &lock); err != nil { // as if by another process
		t.Fatal(err)
	}
	reader, err := x.words.db.Conn(t.Context())
	if err == nil {
		_, err = reader.ExecContext(t.Context(), `PRAGMA busy_timeout(100)`)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := words.Explain(reader.QueryRowContext(t.Context(), `SELECT 1 FROM notes`).Scan(new(int))); err == nil ||
		!saysLocked(err) {
		t.Errorf("reading says %v", err)
	}
	if err := reader.Close(); err != nil {
		t.Error(err)
	}
	lock.Type = unix.F_UNLCK
	if err := unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &lock); err != nil {
		t.Fatal(err)
	}
	if got := paths(t, x, "apple"); !slices.Equal(got, []string{"a.md"}) {
		t.Errorf("then %q are found", got)
	}
}

// obeyModes makes file modes apply to this goroutine even if it is root's.
func obeyModes(t *testing.T) {
	t.Helper()
	runtime.LockOSThread() // never unlocked, so the thread ends with the goroutine
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capset(&header, &make([]unix.CapUserData, 2)[0]); err != nil {
		t.Fatal(err)
	}
}

// An index in a writable folder whose files cannot be written is read by every run, and
// written once it can be.
func TestReadOnlyFilesAreRead(t *testing.T) {
	t.Parallel()
	obeyModes(t)
	dir, index := t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{"a.md": "apple\n"})
	folder, err := notes.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	bag := &bagEmbedder{name: "bag"}
	open := func(use func(x *Index)) {
		t.Helper()
		x, err := Open(index, Options{Vault: dir, Embedder: bag})
		if err != nil {
			t.Fatal(err)
		}
		use(x)
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
	chmod := func(mode os.FileMode) {
		files, err := filepath.Glob(filepath.Join(index, "*.*"))
		if err != nil || len(files) < 3 {
			t.Fatalf("%q are the files, %v", files, err)
		}
		for _, file := range files {
			if err := os.Chmod(file, mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	open(func(x *Index) { syncNow(t, x, folder, bag) })
	chmod(0o400)
	write(t, dir, map[string]string{"b.md": "pear\n"})
	for range 2 {
		open(func(x *Index) {
			if _, err := x.Sync(t.Context(), folder, bag, nil); err == nil ||
				!strings.Contains(err.Error(), "writable") {
				t.Errorf("the sync says %v", err)
			}
			if got := paths(t, x, "apple"); !slices.Equal(got, []string{"a.md"}) {
				t.Errorf("%q are found", got)
			}
		})
	}
	open(func(x *Index) {
		if got := paths(t, x, "apple"); !slices.Equal(got, []string{"a.md"}) {
			t.Errorf("%q are found", got)
		}
		chmod(0o600)
		if changes := syncNow(t, x, folder, bag); changes.Embedded != 1 {
			t.Errorf("then %d passages are embedded, %q", changes.Embedded, changes.Warnings)
		}
		if got := paths(t, x, "pear"); got[0] != "b.md" {
			t.Errorf("then %q are found", got)
		}
	})
}

// fault is how a system call is made to fail.
type fault struct {
	call, does string
	when       int
}

func (f fault) String() string { return fmt.Sprintf("%s number %d: %s", f.call, f.when, f.does) }

// certain reports whether the fault always happens. strace counts the calls of each
// thread, and Go switches threads, so a call with a later number may not occur.
func (f fault) certain() bool { return f.kills() && f.when == 1 }

// locksOut reports whether SQLite keeps a lock after the fault: no real system refuses
// to release a lock, so SQLite would hold it until the process ends, and others would
// wait ten seconds. strace cannot tell the call from one that takes a lock.
func (f fault) locksOut() bool { return f.call == "fcntl" && !f.kills() }

func saysLocked(err error) bool {
	return strings.Contains(err.Error(), "another program has the index open, try again")
}

func (f fault) kills() bool { return f.does == "signal=KILL" }

// injected returns the arguments of strace. To kill, it must look at every system call:
// the kernel may drop a signal sent at a filtered stop.
func (f fault) injected() []string {
	args := []string{
		"-f", "-qq", "-o", "/dev/null", "-e", "trace=" + f.call, "-e",
		fmt.Sprintf("inject=%s:%s:when=%d", f.call, f.does, f.when),
	}
	if !f.kills() {
		args = append(args, "--seccomp-bpf")
	}
	return args
}

// faultsOf lists the system calls of an index run, with the errors that each may
// return.
func faultsOf(t *testing.T, strace string, files []string, run func(*exec.Cmd) *exec.Cmd) []fault {
	t.Helper()
	log := filepath.Join(t.TempDir(), "calls")
	does := map[string][]string{
		"openat":    {"signal=KILL", "error=ENOSPC", "error=EMFILE", "error=EACCES", "error=EROFS"},
		"pwrite64":  {"signal=KILL", "error=ENOSPC", "error=EIO"},
		"write":     {"signal=KILL", "error=ENOSPC", "error=EIO"},
		"ftruncate": {"signal=KILL", "error=ENOSPC", "error=EROFS"},
		"fsync":     {"signal=KILL", "error=ENOSPC", "error=EIO"},
		"pread64":   {"signal=KILL", "error=EIO"},
		"read":      {"signal=KILL", "error=EIO"},
		"renameat":  {"signal=KILL", "error=ENOSPC", "error=EACCES", "error=EROFS"},
		"unlink":    {"signal=KILL", "error=EACCES", "error=EROFS"},
		"unlinkat":  {"signal=KILL", "error=EACCES", "error=EROFS"},
		"utimensat": {"signal=KILL", "error=EACCES", "error=EROFS"},
		"flock":     {"signal=KILL", "error=EIO"},
		"fcntl":     {"signal=KILL", "error=EAGAIN"},
		"mmap":      {"signal=KILL", "error=ENOMEM"},
	}
	var calls []string
	for call := range does {
		calls = append(calls, call)
	}
	slices.Sort(calls)
	args := append([]string{"-f", "--seccomp-bpf", "-qq", "-o", log, "-e", "trace=" + strings.Join(calls, ",")},
		files...)
	if out, err := run(exec.Command(strace, args...)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	const most = 60 // of each call: SQLite locks thousands of times
	var all []fault
	for _, call := range calls {
		count := bytes.Count(text, []byte(" "+call+"("))
		for when := 0; when < count; when += 1 + count/most {
			for _, what := range does[call] {
				all = append(all, fault{call, what, when + 1})
			}
		}
	}
	return all
}

// Whatever a system call of an index run returns, and wherever the run is killed, the
// index is not lost, and searches are right before, during and after.
func TestNoFaultOfAnIndexRunLosesTheIndex(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil || exec.Command(strace, "-f", "-o", "/dev/null", "true").Run() != nil {
		t.Skip("needs strace, and the right to use it")
	}
	for _, work := range []string{"sync", "rebuild"} {
		t.Run(work, func(t *testing.T) {
			dir, index := manyNotesIn(t)
			folder, err := notes.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer folder.Close()
			embedder := &bagEmbedder{name: "bag"}
			x, err := Open(index, Options{Vault: dir, Size: 64, Embedder: embedder})
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			change := func(round int) string {
				note := fmt.Sprintf("changing%d", round)
				write(t, dir, map[string]string{"changing.md": note + "\n"})
				return note
			}
			files := func() (args []string) {
				number, err := newest(index)
				if err != nil {
					t.Fatal(err)
				}
				names := []string{"", "lock", "new.db", "new.db-journal"}
				for n := number; n <= number+1; n++ {
					base := filepath.Base(x.generationBase(n))
					names = append(names, base+".db", base+".db-journal", base+".stamp", base+".stamp.new")
				}
				file, _ := vectors.Local{Dir: index}.Path("bag")
				args = []string{"-P", file}
				for _, name := range names {
					args = append(args, "-P", filepath.Join(index, name))
				}
				return args
			}
			run := func(cmd *exec.Cmd) *exec.Cmd {
				cmd.Args = append(cmd.Args, os.Args[0])
				cmd.Env = append(child(t, work, dir, index).Env, "GOMAXPROCS=1")
				return cmd
			}
			change(0)
			all := faultsOf(t, strace, files(), run)
			step := len(all)/4 + 1
			if os.Getenv("LIFEHUB_SOAK") != "" {
				step = 1
			}
			refused, killed, done := 0, 0, 0
			for i := 0; i < len(all); i += step {
				f := all[i]
				marker := change(i + 1)
				cmd := run(exec.Command(strace, append(f.injected(), files()...)...))
				var out bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &out
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				ended := make(chan error, 1)
				go func() { ended <- cmd.Wait() }()
				var over error
				for running := true; running; {
					select {
					case over = <-ended:
						running = false
					// searching in a tight loop would take the CPU from the run
					case <-time.After(10 * time.Millisecond):
					}
					if err := findOne(t.Context(), x, i%manyNotes); err != nil && !(f.locksOut() && saysLocked(err)) {
						t.Errorf("%v: during it: %v", f, err)
					}
				}
				switch {
				case over != nil && strings.Contains(over.Error(), "killed"):
					killed++
				case f.certain():
					t.Errorf("%v: it was not killed: %v\n%s", f, over, out.String())
				case over == nil:
					done++
				default:
					refused++
					if text := out.String(); text == "" || strings.Contains(text, "panic") ||
						strings.Contains(text, "goroutine ") {
						t.Errorf("%v: it says %q", f, text)
					}
				}
				fresh, err := Open(index, Options{Vault: dir, Size: 64, Embedder: embedder})
				if err != nil {
					t.Fatalf("%v: then the index does not open: %v", f, err)
				}
				if err := findOne(t.Context(), fresh, (i+1)%manyNotes); err != nil {
					t.Errorf("%v: after it: %v", f, err)
				}
				changes := syncNow(t, fresh, folder, embedder)
				if changes.Rebuilt != "" || changes.Embedded > 1 {
					t.Errorf("%v: the index was lost: %+v", f, changes)
				}
				if got := paths(t, fresh, `"`+marker+`"`); !slices.Equal(got, []string{"changing.md"}) {
					t.Errorf("%v: the note that changed is found in %q; the sync says %+v", f, got, changes)
				}
				if err := fresh.Close(); err != nil {
					t.Errorf("%v: %v", f, err)
				}
			}
			if killed == 0 {
				t.Error("nothing was killed: the test shows nothing")
			}
			t.Logf("%d faults: killed %d times, refused %d times, %d times without effect or overcome; 0 indexes lost",
				killed+refused+done, killed, refused, done)
		})
	}
}

// A PDF whose reader process was killed from outside is read again by the next sync,
// though it has not changed.
func TestPDFIsRetriedAfterItsReaderDied(t *testing.T) { // not parallel: it would kill the reader of another test
	folder, x := vault(t, map[string]string{"a.md": "apple\n", "slow.pdf": string(pdftest.Slow())})
	for range 2 {
		over, killed := make(chan bool), make(chan bool, 1)
		go func() {
			for {
				select {
				case <-over:
					killed <- false
					return
				case <-time.After(time.Millisecond):
				}
				if reader := readerOfPDF(t); reader > 0 {
					killed <- syscall.Kill(reader, syscall.SIGKILL) == nil
					return
				}
			}
		}()
		changes := syncNow(t, x, folder, nil)
		close(over)
		if !<-killed {
			t.Fatal("nobody reads it")
		}
		if i := slices.IndexFunc(changes.Notes, func(c Change) bool { return c.Path == "slow.pdf" }); i < 0 ||
			!strings.HasSuffix(changes.Notes[i].Reason, notes.ErrBusy.Error()) {
			t.Errorf("the sync tells %+v", changes.Notes)
		}
	}
}

// readerOfPDF returns the process of a child of this one that reads a PDF; 0 if there
// is none.
func readerOfPDF(t *testing.T) int {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Error(err)
	}
	for _, line := range lines {
		given, _ := os.ReadFile(line)
		status, _ := os.ReadFile(filepath.Join(filepath.Dir(line), "status")) // it may have exited
		if bytes.Contains(given, []byte("read-pdf-from-stdin")) &&
			bytes.Contains(status, fmt.Appendf(nil, "\nPPid:\t%d\n", os.Getpid())) {
			id, _ := strconv.Atoi(filepath.Base(filepath.Dir(line)))
			return id
		}
	}
	return 0
}
