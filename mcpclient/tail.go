package mcpclient

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// maxTail is the number of bytes of a server's stderr that are kept in memory.
const maxTail = 64 << 10

// tail keeps the end of what is written to it, and optionally all of it in a
// file.
type tail struct {
	mu   sync.Mutex
	text []byte
	file io.WriteCloser // may be nil
	line []byte         // incomplete last line, not yet written to the file

	redact func(string) string // removes secrets; may be nil
}

// newTail returns a tail that also writes to the file at path, unless path is
// empty.
func newTail(path string, redact func(string) string) *tail {
	t := &tail{redact: redact}
	if path != "" {
		t.file = &logFile{path: path}
	}
	return t
}

// clean returns a text with secrets removed.
func (t *tail) clean(text []byte) []byte {
	if t.redact == nil {
		return text
	}
	return []byte(t.redact(string(text)))
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - maxTail; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	if t.file != nil {
		t.line = append(t.line, p...)
		complete := bytes.LastIndexByte(t.line, '\n') + 1
		if len(t.line) > maxTail {
			complete = len(t.line)
		}
		if complete > 0 {
			_, _ = t.file.Write(t.clean(t.line[:complete])) // errors are ignored: a full disk must not stop the server
			t.line = append(t.line[:0], t.line[complete:]...)
		}
	}
	return len(p), nil
}

// Close closes the file.
func (t *tail) Close() {
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

// Last returns the last line that is not blank.
func (t *tail) Last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := bytes.TrimSpace(t.text)
	line := t.clean(bytes.TrimSpace(text[bytes.LastIndexByte(text, '\n')+1:]))
	return string(bytes.ToValidUTF8(line[:min(len(line), 500)], []byte("�")))
}

// maxLog bounds a server's log file in bytes; one previous file of that size is
// kept.
const maxLog = 1 << 20

// logFile appends to a file of bounded size.
type logFile struct {
	path string
	file *os.File // opened by the first write
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
