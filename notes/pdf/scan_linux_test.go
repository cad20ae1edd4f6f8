package pdf

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"lifehub/internal/pdftest"
)

// standIn writes a shell script that is run instead of tesseract.
func standIn(t *testing.T, script string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "tesseract")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n[ \"$1\" = --list-langs ] && exit 1\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestFailingTesseractIsReported(t *testing.T) {
	for name, script := range map[string]string{
		"it fails": "exit 1", "it crashes": "kill -s SEGV $$", "it prints no table": "echo '5\t1\tlist'",
		"it takes all memory": "exec /usr/bin/tail /dev/zero",
	} {
		_, err := reader(t, standIn(t, script)).Text(t.Context(), pdftest.Pictures("gray", offer(t)))
		if err == nil || !strings.Contains(err.Error(), "PDF: ") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := reader(t, standIn(t, script)).ImageText(t.Context(), encoded(t, "png", offer(t))); err == nil ||
			!strings.HasPrefix(err.Error(), Image+": ") {
			t.Errorf("image, %s: %v", name, err)
		}
	}
}

func TestStarvedTesseractIsBusy(t *testing.T) {
	s := scanner{
		program: standIn(t, "exec /bin/sleep 10000"), languages: "eng",
		began: time.Now(), limit: time.Second / 2,
	}
	if _, err := s.recognise(offer(t), imageDPI); !errors.Is(err, ErrBusy) {
		t.Errorf("it says %v", err)
	}
	if _, err := s.recognise(offer(t), imageDPI); !errors.Is(err, ErrBusy) { // no time is left
		t.Errorf("it says %v", err)
	}
}

func TestTesseractGetsOnlyAnImage(t *testing.T) {
	seen := filepath.Join(t.TempDir(), "seen")
	_, _ = reader(t, standIn(t, "/bin/cat > "+seen)).Text(t.Context(), pdftest.Pictures("gray", offer(t)))
	if raw, err := os.ReadFile(seen); err != nil || !strings.HasPrefix(string(raw), "P5 ") {
		t.Errorf("it gets %.20q, %v", raw, err)
	}
	_, _ = reader(t, standIn(t, "/bin/cat > "+seen)).ImageText(t.Context(), encoded(t, "png", offer(t)))
	if raw, err := os.ReadFile(seen); err != nil || !strings.HasPrefix(string(raw), "P5 ") {
		t.Errorf("of an image, it gets %.20q, %v", raw, err)
	}
}

func TestTesseractEndsWithItsReader(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	if err := os.WriteFile(pid, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := reader(t, standIn(t, "echo $$ >> "+pid+"\nexec /bin/sleep 10000")).Text(ctx,
			pdftest.Pictures("gray", offer(t)))
		done <- err
	}()
	var number string
	for !strings.HasSuffix(number, "\n") {
		raw, err := os.ReadFile(pid)
		if err != nil {
			t.Fatal(err)
		}
		number = string(raw)
		runtime.Gosched()
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("a cancelled reading has no error")
	}
	for {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%s/stat", strings.TrimSpace(number)))
		if _, state, _ := strings.Cut(string(stat), ") "); err != nil || strings.HasPrefix(state, "Z") {
			return
		}
		runtime.Gosched()
	}
}
