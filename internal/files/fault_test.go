package files

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestMachineProblemsHaveAdvice(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]struct {
		says, advice string
		machine      bool
	}{
		syscall.EMFILE:   {"too many files are open", "ulimit", true},
		syscall.ENFILE:   {"too many files are open", "ulimit", true},
		syscall.ENOSPC:   {"the disk is full", "space", true},
		syscall.EDQUOT:   {"quota", "space", true},
		syscall.EIO:      {"the disk reports an error", "check the disk", true},
		syscall.EROFS:    {"read-only", "writable", true},
		syscall.EACCES:   {"permission", "readable", false},
		fs.ErrNotExist:   {"", "", false},
		errors.New("no"): {"", "", false},
	} {
		wrapped := fmt.Errorf("read settings: %w", &fs.PathError{Op: "open", Path: "config.yaml", Err: err})
		says, advice := ExplainFault(wrapped)
		if !strings.Contains(says, want.says) || (says == "") != (want.says == "") || !strings.Contains(advice, want.advice) || IsFault(wrapped) != want.machine {
			t.Errorf("%v: %q, %q, of the machine: %v", err, says, advice, IsFault(wrapped))
		}
	}
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
