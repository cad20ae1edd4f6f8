package mcpclient

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// maxTail is how much of a server's stderr is kept, in bytes.
const maxTail = 64 << 10

// Tail keeps the end of what is written to it, and all of it in a file.
type Tail struct {
	mu   sync.Mutex
	text []byte
	file io.WriteCloser // nil: none
	line []byte         // the last one for the file, which has no end yet

	redact func(string) string // takes secrets out of it; nil: there are none
}

// NewTail keeps all of it in a file at path, too; "": nowhere.
func NewTail(path string, redact func(string) string) *Tail {
	t := &Tail{redact: redact}
	if path != "" {
		t.file = &logFile{path: path}
	}
	return t
}

// clean is a text as others may read it.
func (t *Tail) clean(text []byte) []byte {
	if t.redact == nil {
		return text
	}
	return []byte(t.redact(string(text)))
}

func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - maxTail; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	if t.file != nil {
		t.line = append(t.line, p...)
		whole := bytes.LastIndexByte(t.line, '\n') + 1
		if len(t.line) > maxTail {
			whole = len(t.line)
		}
		if whole > 0 {
			_, _ = t.file.Write(t.clean(t.line[:whole])) // a full disk must not stop the server
			t.line = append(t.line[:0], t.line[whole:]...)
		}
	}
	return len(p), nil
}

// Close closes the file; nothing more is written to it.
func (t *Tail) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file != nil {
		if len(t.line) > 0 {
			_, _ = t.file.Write(t.clean(t.line))
		}
		_ = t.file.Close()
		t.file = nil
	}
}

// Last is the last line that says something.
func (t *Tail) Last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := bytes.TrimSpace(t.text)
	line := t.clean(bytes.TrimSpace(text[bytes.LastIndexByte(text, '\n')+1:]))
	return string(bytes.ToValidUTF8(line[:min(len(line), 500)], []byte("�")))
}

// maxLog is how long a server's log file may grow, in bytes; one older file
// of that length is kept next to it.
const maxLog = 1 << 20

// logFile appends to a file that stays short.
type logFile struct {
	path string
	file *os.File // nil until something is written
	size int64
}

func (l *logFile) Write(p []byte) (int, error) {
	if l.file != nil && l.size+int64(len(p)) > maxLog {
		_ = l.file.Close()
		l.file = nil
		if err := os.Rename(l.path, l.path+".old"); err != nil {
			return 0, err
		}
	}
	if l.file == nil {
		if err := l.open(); err != nil {
			return 0, err
		}
	}
	n, err := l.file.Write(p)
	l.size += int64(n)
	return n, err
}

func (l *logFile) open() error {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return err
	}
	l.file, l.size = file, info.Size()
	return nil
}

func (l *logFile) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}
