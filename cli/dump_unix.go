//go:build unix

package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// dumpOnSignal writes the stacks of all goroutines to a new file in dir on each SIGUSR1, without
// printing anything. Calling stop ends its goroutine and restores the default effect of the signal.
func dumpOnSignal(dir string) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	go func() {
		for range signals {
			if err := dumpGoroutines(filepath.Join(dir, time.Now().Format("goroutines-20060102-150405.000.txt"))); err != nil {
				slog.Error("dump goroutines", "err", err)
			}
		}
	}()
	return func() { signal.Stop(signals); close(signals) }
}

// dumpGoroutines writes the stack of every goroutine to a file. The stacks contain function names
// and addresses but no user text. It does not use runtime/pprof: importing that package makes the
// runtime sample every allocation.
func dumpGoroutines(file string) error {
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err != nil {
		return fmt.Errorf("make folder for the dump: %w", err)
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the dump: %w", err)
	}
	stacks := make([]byte, 16<<20) // a virtual reservation: only the pages written take memory
	_, err = f.Write(stacks[:runtime.Stack(stacks, true)])
	return errors.Join(err, f.Close())
}
