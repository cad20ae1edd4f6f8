package cli

import (
	"io"
	"log/slog"
	"os"

	"lifehub/cli/redact"
)

// openLog sends what the libraries log to a file: the screen is not theirs.
// Without a file it is dropped; `lifehub doctor` tells of the folder.
func (a *app) openLog() {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	if os.MkdirAll(a.State, 0o700) != nil {
		return
	}
	file, err := os.OpenFile(a.LogFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	a.logFile = file
	slog.SetDefault(slog.New(slog.NewTextHandler(cleanLog{file, a.secrets}, nil)))
}

// cleanLog writes lines of a log without secrets.
type cleanLog struct {
	io.Writer
	secrets *redact.Redaction
}

func (l cleanLog) Write(line []byte) (int, error) {
	if _, err := io.WriteString(l.Writer, l.secrets.Text(string(line))); err != nil {
		return 0, err
	}
	return len(line), nil
}
