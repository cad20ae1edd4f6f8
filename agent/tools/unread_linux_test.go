package tools

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/notes"
)

// listedFolder is the environment variable with the folder that a child of the test
// below lists.
const listedFolder = "LIFEHUB_TEST_LISTED"

// A list names what could not be read.
func TestListsNameUnreadableNotes(t *testing.T) {
	if dir := os.Getenv(listedFolder); dir != "" {
		folder, err := notes.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		b := work(t, nil)
		b.folders = append(b.folders, folder)
		for _, tool := range []string{"list_notes", "list_tasks"} {
			_, text := b.run(tool, "{}")
			fmt.Printf("<%s>%s</%s>", tool, text, tool)
		}
		return
	}
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil || exec.Command(strace, "-f", "-o", "/dev/null", "true").Run() != nil {
		t.Skip("needs strace, and the right to use it")
	}
	dir := work(t, map[string]string{"a.md": "- [ ] buy tea\n", "sub/b.md": "- [ ] pay rent\n"}).folders[0].Dir()
	for _, one := range []struct{ call, at, missing string }{
		{"getdents64", "sub", "\n\nNot readable now, so missing here: sub."},
		{"read", "sub/b.md", "\n\nNot readable now, so missing here: sub/b.md."},
		{"none", "", ""},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestListsNameUnreadableNotes$")
		if one.at != "" {
			cmd = exec.Command(strace, "-f", "-qq", "-o", "/dev/null", "-P", filepath.Join(dir, one.at), "-e",
				"trace="+one.call, "-e", "inject="+one.call+":error=EIO", os.Args[0], cmd.Args[1])
		}
		cmd.Env = append(os.Environ(), listedFolder+"="+dir)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, tool := range []string{"list_notes", "list_tasks"} {
			_, text, _ := strings.Cut(string(out), "<"+tool+">")
			text, _, _ = strings.Cut(text, "</"+tool+">")
			if _, missing, _ := strings.Cut(text, "\n\nNot "); strings.Contains(text, "pay rent") && one.at != "" ||
				(one.missing == "") != (missing == "") || !strings.HasSuffix(text, one.missing) || text == "" {
				t.Errorf("%s of %q: %s says %q", one.call, one.at, tool, text)
			}
		}
	}
}
