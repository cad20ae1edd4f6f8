package files

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
)

func TestMachineProblemsHaveAdvice(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, c := range []struct {
		err     error
		machine bool
	}{
		{syscall.EMFILE, true},
		{syscall.ENFILE, true},
		{syscall.ENOSPC, true},
		{syscall.EDQUOT, true},
		{syscall.EIO, true},
		{syscall.EROFS, true},
		{syscall.EACCES, false},
		{fs.ErrNotExist, false},
		{errors.New("no"), false},
	} {
		wrapped := fmt.Errorf("read settings: %w", &fs.PathError{Op: "open", Path: "config.yaml", Err: c.err})
		if IsFault(wrapped) != c.machine {
			t.Errorf("%v: of the machine: %v", c.err, !c.machine)
		}
		says, advice := ExplainFault(wrapped)
		fmt.Fprintf(&all, "%v: %q, %q\n", c.err, says, advice)
	}
	golden.RequireEqual(t, all.String())
	if says, advice := ExplainFault(nil); says != "" || advice != "" {
		t.Errorf("no error: %q, %q", says, advice)
	}
}

func TestTryWritingLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	if err := TryWriting(dir); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	if err := TryWriting(filepath.Join(dir, "\x00")); err == nil {
		t.Error("a name that cannot be was written")
	}
}
