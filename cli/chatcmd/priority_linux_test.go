package chatcmd

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestBackgroundThreadHasLowPriority(t *testing.T) {
	before := threadPriority(t)
	inside := make(chan int)
	go func() {
		lowerPriority()
		inside <- threadPriority(t)
	}()
	if got := <-inside; got != min(before+niceness, 19) {
		t.Errorf("its thread has the niceness %d, want %d more than %d", got, niceness, before)
	}
	for range 20 {
		after := make(chan int)
		go func() { after <- threadPriority(t) }()
		if got := <-after; got != before {
			t.Fatalf("another goroutine runs at the niceness %d, want %d", got, before)
		}
	}
}

// threadPriority returns the niceness of the calling thread.
func threadPriority(t *testing.T) int {
	t.Helper()
	raw, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		t.Error(err)
	}
	return 20 - raw // the system call returns 20 minus the niceness
}
