package rag

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lifehub/internal/testenv"

	"lifehub/internal/pdftest"
	"lifehub/notes"
	"lifehub/notes/pdf"
)

// withFault runs a child process on an index in which a system call on a path, or on
// something below it, fails.
func withFault(t *testing.T, work string, folder *notes.Folder, x *Index, call, below,
	fault string,
) (out string, err error) {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil || exec.Command(strace, "-f", "-o", "/dev/null", "true").Run() != nil {
		t.Skip("needs strace, and the right to use it")
	}
	cmd := exec.Command(strace, "-f", "-qq", "-o", "/dev/null", "-P", filepath.Join(folder.Dir(), below), "-e",
		"trace="+call, "-e", "inject="+call+":error="+fault, os.Args[0])
	cmd.Env = append(child(t, work, folder.Dir(), x.dir).Env, "GOMAXPROCS=1")
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// Notes that the system does not let us list or stat are not deleted. They are reported
// as unreadable, and their earlier content is searched.
func TestFailedListingDeletesNothing(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"a.md": "apple one\n", "sub/b.md": "apple two\n", "sub/deep/c.md": "apple three\n",
		"other/d.md": "apple four\n",
	}
	all := []string{"a.md", "other/d.md", "sub/b.md", "sub/deep/c.md"}
	faults := []string{"EMFILE", "ENFILE", "EIO", "ESTALE", "EACCES", "ENOMEM", "ELOOP"}
	for i, one := range []struct {
		call, below string
		unreadable  int
	}{
		{"getdents64", "", 4},
		{"getdents64", "sub", 2},
		{"getdents64", "sub/deep", 1},
		{"newfstatat", "sub", 1},      // the note in it; folders are not touched
		{"newfstatat", "sub/deep", 1}, // the note in it
		{"openat", "sub", 1},          // the subfolder
	} {
		for j, fault := range faults {
			if (i+j)%4 != 0 && os.Getenv("LIFEHUB_SOAK") == "" {
				continue
			}
			t.Run(fmt.Sprintf("%s of %q: %s", one.call, one.below, fault), func(t *testing.T) {
				t.Parallel()
				folder, x := vault(t, texts)
				syncNow(t, x, folder, nil)
				for range 2 { // a second fault must find what the first one left
					out, err := withFault(t, "sync", folder, x, one.call, one.below, fault)
					if (err != nil) != (one.below == "") {
						t.Errorf("%v: %s", err, out)
					}
					if got := slices.Sorted(slices.Values(paths(t, x, "apple"))); !slices.Equal(got, all) {
						t.Errorf("%q are found", got)
					}
					if c, err := x.Coverage(t.Context()); err != nil || c.Unreadable != one.unreadable ||
						c.Total != len(all) || c.Indexed != len(all) || len(c.LeftOut) != 0 {
						t.Errorf("%v: the coverage is %+v", err, c)
					}
				}
				if changes := syncNow(t, x, folder, nil); len(changes.Notes) != 0 || changes.Unreadable != 0 {
					t.Errorf("then the sync tells %+v", changes)
				}
			})
		}
	}
}

// The earlier content of an unreadable note is searched, and the note is read again as
// soon as possible.
func TestUnreadableNoteKeepsItsIndexedText(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, map[string]string{"a.md": "apple\n", "b.md": "pear\n"})
	syncNow(t, x, folder, nil)
	for file, text := range map[string]string{"a.md": "apple and plum\n", "new.md": "cherry\n"} {
		write(t, folder.Dir(), map[string]string{file: text})
		for range 2 {
			if out, err := withFault(t, "sync", folder, x, "read", file, "EIO"); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if got := paths(t, x, "apple"); !slices.Equal(got, []string{"a.md"}) {
				t.Errorf("%q are found", got)
			}
			if c, err := x.Coverage(t.Context()); err != nil || c.Unreadable != 1 || len(c.LeftOut) != 0 {
				t.Errorf("%s: %v: the coverage is %+v", file, err, c)
			}
		}
		changes := syncNow(t, x, folder, nil)
		if got := paths(t, x, `"`+strings.TrimSpace(text)+`"`); !slices.Equal(got, []string{file}) ||
			changes.Unreadable != 0 {
			t.Errorf("then %q are found, %+v", got, changes)
		}
	}
}

// A rebuild that cannot read all indexed notes leaves the index unchanged.
func TestRebuildLosesNoUnreadableNote(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, map[string]string{"a.md": "apple\n", "sub/b.md": "apple pie\n"})
	syncNow(t, x, folder, nil)
	for _, one := range [][2]string{{"getdents64", "sub"}, {"read", "sub/b.md"}} {
		if out, err := withFault(t, "rebuild", folder, x, one[0], one[1], "EIO"); err == nil ||
			!strings.Contains(out, "sub/b.md") || !strings.Contains(out, "lost") {
			t.Errorf("%v: %s", err, out)
		}
		if got := paths(t, x, "apple"); len(got) != 2 {
			t.Errorf("%q are found", got)
		}
	}
}

// A PDF that took too long is not read again while it is unchanged, even if its reader got
// little CPU time.
func TestPDFThatTookTooLongIsNotRetried(t *testing.T) {
	testenv.WithoutRace(t) // a PDF is read in a process of its own
	t.Parallel()
	folder, x := vault(t, map[string]string{"a.md": "apple\n", "slow.pdf": string(pdftest.Slow())})
	reader := pdf.Reader{Cache: testenv.CompiledPDFium(t)}
	_, _ = reader.Text(t.Context(), nil) // compiles it, so that the first process below is that of the first file
	folder.ReadWith(reader)
	over := make(chan bool)
	stopped := make(chan int, 1)
	go func() {
		for process := 0; ; time.Sleep(time.Millisecond) {
			select {
			case <-over:
				stopped <- process
				return
			default:
			}
			if process == 0 {
				if process = readerOfPDF(t); process > 0 {
					_ = syscall.Kill(process, syscall.SIGSTOP) // it gets no CPU time
				}
			}
		}
	}()
	changes := syncNow(t, x, folder, nil)
	close(over)
	if <-stopped == 0 {
		t.Fatal("no process read it")
	}
	reasonOf := func(c Changes, name string) string {
		i := slices.IndexFunc(c.Notes, func(c Change) bool { return c.Path == name })
		if i < 0 {
			t.Fatalf("the sync tells %+v", c.Notes)
		}
		return c.Notes[i].Reason
	}
	slow := reasonOf(changes, "slow.pdf")
	if !strings.Contains(slow, "20s") {
		t.Errorf("it says %q", slow)
	}
	const other = "damaged PDF: reading it takes more than 20s" // reported only if the file was not read again
	if _, err := x.words.db.Exec(`UPDATE skipped SET reason = ? WHERE path = 'slow.pdf'`, other); err != nil {
		t.Fatal(err)
	}
	write(t, folder.Dir(), map[string]string{"a.md": "apple and pear\n"})
	changes = syncNow(t, x, folder, nil)
	if again := reasonOf(changes, "slow.pdf"); again != other {
		t.Errorf("it was read again: %q", again)
	}
}

// What cannot be listed now is still expected when the folder is opened again.
func TestUnreadableNotesAreStillExpected(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, map[string]string{"sub/b.md": "apple two\n"})
	syncNow(t, x, folder, nil)
	before, err := os.ReadFile(filepath.Join(x.dir, seenFile))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := withFault(t, "sync", folder, x, "getdents64", "sub", "EIO"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if after, err := os.ReadFile(filepath.Join(x.dir, seenFile)); err != nil || string(after) != string(before) {
		t.Errorf("expected are %s, %v, before %s", after, err, before)
	}
}
