package cli

import (
	"fmt"
	"io"
	"log/slog"
	"os"
)

// openLog sends what the libraries log to a file: the screen is not theirs.
func (a *app) openLog() error {
	if err := os.MkdirAll(a.state, 0o700); err != nil {
		return fmt.Errorf("make folder for the log: %w", err)
	}
	file, err := os.OpenFile(a.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	a.logFile = file
	slog.SetDefault(slog.New(slog.NewTextHandler(cleanLog{file, a.secrets}, nil)))
	return nil
}

// cleanLog writes lines of a log without secrets.
type cleanLog struct {
	io.Writer
	secrets *secrecy
}

func (l cleanLog) Write(line []byte) (int, error) {
	if _, err := io.WriteString(l.Writer, l.secrets.text(string(line))); err != nil {
		return 0, err
	}
	return len(line), nil
}
