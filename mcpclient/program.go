package mcpclient

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// scripts are the endings of arguments that are programs themselves, such as
// server.js in "node server.js".
var scripts = []string{".js", ".mjs", ".cjs", ".ts", ".py", ".rb", ".pl", ".php", ".lua", ".sh", ".jar", ".wasm"}

// program names the files that a server's command runs, each with a digest of
// what it holds: one a line. "" when there is none to be found.
func program(s Server, dir string) string {
	if s.Command == "" {
		return ""
	}
	file := s.Command
	if filepath.Base(file) == file {
		found, err := exec.LookPath(file)
		if err != nil {
			return ""
		}
		file = found
	}
	files := []string{file}
	for _, arg := range s.Args {
		if slices.Contains(scripts, strings.ToLower(filepath.Ext(arg))) {
			files = append(files, arg)
		}
	}
	var lines []string
	for i, file := range files {
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		sum, err := digests.of(file)
		switch {
		case err == nil:
			lines = append(lines, file+" sha256 "+sum)
		case i == 0:
			return ""
		}
	}
	return strings.Join(lines, "\n")
}

// digests remembers the digests of files that did not change since: several
// servers run the same interpreter, which may have 100 MB.
var digests = digester{known: map[stamp]string{}}

type digester struct {
	mu    sync.Mutex
	known map[stamp]string
}

// stamp is what a file looked like when it was read.
type stamp struct {
	path  string
	size  int64
	mtime time.Time
}

func (d *digester) of(file string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fs.ErrInvalid
	}
	at := stamp{file, info.Size(), info.ModTime()}
	if sum, ok := d.known[at]; ok {
		return sum, nil
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return "", err
	}
	sum := fmt.Sprintf("%x", hash.Sum(nil)[:16])
	d.known[at] = sum
	return sum, nil
}
