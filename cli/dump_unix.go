//go:build unix

package cli

import (
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"runtime/pprof"
	"syscall"
	"time"
)

// dumpOnSignal writes what every goroutine does into a new file in dir with
// each SIGUSR1, and nothing on the screen. Its goroutine ends with the returned
// stop, after which the signal ends the process as before.
func dumpOnSignal(dir string) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	done := make(chan struct{})
	go func() {
		defer func() {
			if fault := recover(); fault != nil {
				slog.Error("dump goroutines", "fault", fault, "stack", string(debug.Stack()))
			}
		}()
		for {
			select {
			case <-signals:
				if err := dumpGoroutines(filepath.Join(dir, time.Now().Format("goroutines-20060102-150405.000.txt"))); err != nil {
					slog.Error("dump goroutines", "err", err)
				}
			case <-done:
				return
			}
		}
	}()
	return func() { signal.Stop(signals); close(done) }
}

// dumpGoroutines writes the stack of every goroutine to a file. It holds no
// text of the user: a stack names functions, and addresses in memory.
func dumpGoroutines(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("make folder for the dump: %w", err)
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the dump: %w", err)
	}
	if err = pprof.Lookup("goroutine").WriteTo(f, 2); err != nil {
		_ = f.Close()
		return fmt.Errorf("write the dump: %w", err)
	}
	return f.Close()
}
