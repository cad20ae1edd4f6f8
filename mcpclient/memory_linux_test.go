package mcpclient

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lifehub/internal/testenv"
)

// resident returns the resident memory of this process in bytes.
func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// TestFloodsCostLittleTimeAndMemory makes servers flood their stdout, stderr and
// results at once, and measures the delay of a ticker, which is how long a key
// press in the chat would wait.
func TestFloodsCostLittleTimeAndMemory(t *testing.T) {
	s := start(t, Options{}, bad("huge", "huge"), bad("stderr", "stderr"), bad("flood", "flood"),
		bad("garbage", "garbage"), bad("asks", "asks"))
	debug.FreeOSMemory()
	before, most := resident(t), 0
	var calls sync.WaitGroup
	for _, name := range []string{"huge", "stderr", "flood", "garbage", "asks"} {
		echo := one(t, s, name+"_echo")
		calls.Go(func() { _, _ = echo.Run(t.Context(), nil) })
	}
	done := make(chan struct{})
	go func() { calls.Wait(); close(done) }()
	var late []time.Duration
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for running := true; running; {
		select {
		case at := <-tick.C:
			late = append(late, time.Since(at))
			most = max(most, resident(t)-before)
		case <-done:
			running = false
		}
	}
	f := figures{times: late}
	t.Logf("%d ticks, p95 %v late; %d MB more at most; %d goroutines", len(late), f.p95(),
		most>>20, runtime.NumGoroutine())
	if most > 100<<20 && !testenv.Race {
		t.Errorf("%d MB more, the bound is 100", most>>20)
	}
	bound := 2 * time.Second // allows for other load on the machine
	if os.Getenv("LIFEHUB_SOAK") != "" {
		bound = 100 * time.Millisecond
	}
	if p := f.p95(); p > bound {
		t.Errorf("a tick is %v late, the bound is %v", p, bound)
	}
}
