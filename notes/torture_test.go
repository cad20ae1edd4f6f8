//go:build unix

package notes

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lifehub/internal/files"
	"lifehub/internal/testenv"
)

// TestATortureSetHarmsNoOtherNote puts every known kind of bad file among plain
// notes. All must be listed or reported, all plain notes read, and memory
// bounded.
func TestBadFilesDoNotAffectOtherNotes(t *testing.T) {
	testenv.WithoutRace(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(at(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const plain = 200
	for i := range plain {
		write(fmt.Sprintf("plain %03d.md", i), fmt.Sprintf("# Note %d\n\n#tag text\n", i))
	}

	write("long.md", "")
	must(os.Truncate(at("long.md"), 100<<20))
	write("lines.md", strings.Repeat("a\n", 300_000))
	write("oneline.md", strings.Repeat("word ", 1<<20))
	write("nul.md", "a\x00b")
	write("latin1.md", "Z\xfcrich")
	write("utf16.md", "\xff\xfeh\x00i\x00")
	write("bom.md", "\xef\xbb\xbf# hi")
	write("empty.md", "")
	write("front.md", "---\na: [\n")
	write("binary.md", string(make([]byte, 4096)))
	write("brackets.md", strings.Repeat("[", 1<<20))
	write("quotes.md", strings.Repeat(">", 1<<20))
	write(strings.Repeat("n", 252)+".md", "long name")
	write("new\nline.md", "newline in the name")
	write("esc\x1b[2J.md", "escape in the name")
	write("bytes\xff\xfe.md", "name that is not UTF-8")
	must(syscall.Mkfifo(at("fifo.md"), 0o644))
	socket, err := net.Listen("unix", at("s.md"))
	if err == nil { // the path may be too long for a socket
		defer socket.Close()
	}
	must(os.Mkdir(at("folder.md"), 0o755))
	must(os.Symlink("loop.md", at("loop.md")))
	must(os.Symlink(".", at("self")))
	must(os.Symlink("/dev/zero", at("device.md")))
	must(os.Symlink("nowhere.md", at("dangling.md")))
	makeDeep(t, dir, 100)
	write("unreadable.md", "x")
	must(os.Chmod(at("unreadable.md"), 0))

	folder, err := Open(dir)
	must(err)
	defer folder.Close()
	entries, problems, err := folder.List(t.Context())
	must(err)

	var reported, listed []string
	for _, p := range problems {
		reported = append(reported, p.Path)
	}
	want := []string{"bytes��.md", "dangling.md", "device.md", "fifo.md", "long.md", "loop.md"}
	if socket != nil {
		want = append(want, "s.md")
	}
	for i, name := range want {
		want[i] = strings.Replace(name, "��", "�", 1) // one replacement character per run of invalid bytes
	}
	same(t, "reported", reported, want)

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, entry := range entries {
		listed = append(listed, entry.Path)
		note, err := folder.Read(entry.Path)
		for try := 1; try < 5 && errors.Is(err, files.ErrSilent); try++ { // the machine is busy
			note, err = folder.Read(entry.Path)
		}
		if err != nil {
			if !slices.Contains([]string{"unreadable.md", "nul.md", "binary.md"}, entry.Path) {
				t.Error(err)
			}
			continue
		}
		checkNote(t, note)
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.Sys) - int64(before.Sys); grown > 300<<20 {
		t.Errorf("memory grew by %d MiB", grown>>20)
	}
	for i := range plain {
		if !slices.Contains(listed, fmt.Sprintf("plain %03d.md", i)) {
			t.Fatalf("plain note %d is missing", i)
		}
	}
	for _, name := range []string{"new\nline.md", "esc\x1b[2J.md", "utf16.md", strings.Repeat("d/", 100) + "deep.md"} {
		if !slices.Contains(listed, name) {
			t.Errorf("%.40q is missing", name)
		}
	}
	for _, name := range []string{"fifo.md", "long.md", "device.md", "loop.md", "folder.md"} {
		if _, _, err := folder.Raw(name); err == nil {
			t.Errorf("read %s", name)
		}
	}
}

// makeDeep creates nested folders with a note in the last one.
func makeDeep(t *testing.T, dir string, depth int) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	name := strings.TrimSuffix(strings.Repeat("d/", depth), "/")
	if err := root.MkdirAll(name, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := root.WriteFile(name+"/deep.md", []byte("# Deep\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestANoteOutlivesKill kills a process that repeatedly changes a note, which
// must leave one complete version.
func TestKilledWriterLeavesACompleteNote(t *testing.T) {
	const env = "LIFEHUB_TEST_REWRITE"
	old, young := strings.Repeat("old line\n", 30_000), strings.Repeat("new line!\n", 30_000)
	if dir := os.Getenv(env); dir != "" {
		rewriteForever(t, dir, []byte(old), []byte(young))
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "a.md")
	if err := os.WriteFile(file, []byte(old), 0o644); err != nil {
		t.Fatal(err)
	}
	for kill := range 15 {
		child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		child.Env = append(os.Environ(), env+"="+dir)
		started, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		started.Read(make([]byte, 1)) // the child has begun to write
		timer := time.AfterFunc(time.Duration(kill)*700*time.Microsecond, func() { child.Process.Kill() })
		child.Wait()
		timer.Stop()
		raw, err := os.ReadFile(file)
		if err != nil || string(raw) != old && string(raw) != young {
			t.Fatalf("kill %d left %d bytes of neither version: %v", kill, len(raw), err)
		}
	}
}

func rewriteForever(t *testing.T, dir string, a, b []byte) {
	folder, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for first := true; ; first = false {
		was, _, err := folder.Raw("a.md")
		if err != nil {
			t.Fatal(err)
		}
		now := a
		if string(was) == string(a) {
			now = b
		}
		if first {
			fmt.Println("begun")
		}
		if err := folder.Replace("a.md", was, now); err != nil {
			t.Fatal(err)
		}
	}
}
