package mcpclient

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"

	"lifehub/llm"
)

const (
	// maxLine bounds the bytes of a server's stderr that are kept in memory: a
	// longer line is saved in parts.
	maxLine = 64 << 10
	// maxLog bounds a server's log file in bytes; one previous file of that size is
	// kept.
	maxLog = 1 << 20
)

// tail keeps the last line that is written to it, and appends everything to a
// file of bounded size, without secrets. Its writes never fail: a full disk must
// not stop the server.
type tail struct {
	path    string // of the file; empty: not saved
	secrets llm.Redactor

	mu   sync.Mutex
	rest []byte // incomplete last line
	last []byte // last complete line that is not blank
	file *os.File
	size int64
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rest = append(t.rest, p...)
	complete := bytes.LastIndexByte(t.rest, '\n') + 1
	if len(t.rest) > maxLine {
		complete = len(t.rest)
	}
	t.keep(t.rest[:complete])
	t.rest = append(t.rest[:0], t.rest[complete:]...)
	return len(p), nil
}

// keep saves complete lines.
func (t *tail) keep(lines []byte) {
	if words := bytes.TrimSpace(lines); len(words) > 0 {
		t.last = append(t.last[:0], words[bytes.LastIndexByte(words, '\n')+1:]...)
	}
	if t.path == "" || len(lines) == 0 {
		return
	}
	lines = []byte(t.secrets.Known(string(lines)))
	if t.file == nil && t.open() != nil {
		return
	}
	if t.size > 0 && t.size+int64(len(lines)) > maxLog {
		_ = t.file.Close()
		t.file = nil
		if os.Rename(t.path, t.path+".old") != nil || t.open() != nil {
			return
		}
	}
	n, _ := t.file.Write(lines)
	t.size += int64(n)
}

func (t *tail) open() error {
	if err := os.MkdirAll(filepath.Dir(t.path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(t.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return err
	}
	t.file, t.size = file, info.Size()
	return nil
}

// Close saves an incomplete last line and closes the file.
func (t *tail) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keep(t.rest)
	t.rest = nil
	if t.file != nil {
		_ = t.file.Close()
		t.file, t.path = nil, ""
	}
}

// Last returns the last line that is not blank.
func (t *tail) Last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	line := bytes.TrimSpace(t.rest)
	if len(line) == 0 {
		line = t.last
	}
	line = []byte(t.secrets.Known(string(line)))
	return string(bytes.ToValidUTF8(line[:min(len(line), 500)], []byte("�")))
}
