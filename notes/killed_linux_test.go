package notes

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lifehub/internal/testenv"
)

const killedEnv = "LIFEHUB_TEST_NOTES" // folder in which the child changes and creates a note

// A write killed at any of its system calls leaves either the old or the new note
// intact; a new note either exists completely or not at all.
func TestKilledWriteLeavesACompleteNote(t *testing.T) {
	testenv.WithoutRace(t)
	const was, now = "old\n", "new, and rather longer than the old one was\n"
	if dir := os.Getenv(killedEnv); dir != "" {
		f, err := Open(dir)
		if err == nil {
			err = f.Replace("note.md", []byte(was), []byte(now))
		}
		if err == nil {
			err = f.Create("sub/made.md", now)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	strace, err := exec.LookPath("strace")
	if err != nil || exec.Command(strace, "-f", "-o", "/dev/null", "true").Run() != nil {
		t.Skip("needs strace, and the right to use it")
	}
	calls := []string{
		"openat", "write", "fsync", "fchmodat", "renameat", "renameat2", "linkat", "unlinkat",
		"mkdirat", "flock", "newfstatat",
	}
	killed, whole := 0, 0
	rounds := 1
	if os.Getenv("LIFEHUB_SOAK") != "" {
		rounds = 50
	}
	for _, call := range slices.Repeat(calls, rounds) {
		for when := 1; ; when++ {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "note.md"), []byte(was), 0o644); err != nil {
				t.Fatal(err)
			}
			args := []string{
				"-f", "-qq", "-o", "/dev/null", "-e",
				fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, when),
			}
			// write and fsync act on temporary files, whose names are not known in advance
			if call != "write" && call != "fsync" {
				args = append(args, "-P", dir, "-P", filepath.Join(dir, "sub"), "-P", filepath.Join(dir, "note.md"),
					"-P", filepath.Join(dir, "sub", "made.md"))
			}
			cmd := exec.Command(strace, append(args, os.Args[0], "-test.run", "^"+t.Name()+"$")...)
			cmd.Env = append(os.Environ(), killedEnv+"="+dir, "GOMAXPROCS=1")
			out, err := cmd.CombinedOutput()
			if err == nil {
				whole++
				break // there are no more calls of this kind
			}
			if !strings.Contains(err.Error(), "killed") {
				t.Fatalf("%s %d: %v\n%s", call, when, err, out)
			}
			killed++
			text, err := os.ReadFile(filepath.Join(dir, "note.md"))
			if err != nil || string(text) != was && string(text) != now {
				t.Errorf("killed at %s %d: the note holds %q, %v", call, when, text, err)
			}
			made, err := os.ReadFile(filepath.Join(dir, "sub", "made.md"))
			if err == nil && string(made) != now || err != nil && !os.IsNotExist(err) {
				t.Errorf("killed at %s %d: the new note holds %q, %v", call, when, made, err)
			}
			if when > 60 {
				break
			}
		}
	}
	if killed < 10 || whole == 0 {
		t.Errorf("killed %d times, %d times not: the test shows little", killed, whole)
	}
	t.Logf("killed at %d places, 0 notes torn", killed)
}
