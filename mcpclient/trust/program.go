package trust

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

	"lifehub/mcpclient/config"
)

// scripts are extensions of arguments that are programs, such as server.js in
// "node server.js".
var scripts = []string{".js", ".mjs", ".cjs", ".ts", ".py", ".rb", ".pl", ".php", ".lua", ".sh", ".jar", ".wasm"}

// runsFolders are name prefixes of interpreters that can run a folder.
var runsFolders = []string{"python", "pypy", "node", "bun"}

// Program lists the programs that a server's command runs, one per line with a
// digest of its content. It notes programs that it cannot determine. It returns
// "" if the command is not found.
func Program(s config.Entry, dir string) string {
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
	within := func(name string) string {
		if filepath.IsAbs(name) {
			return name
		}
		return filepath.Join(dir, name)
	}
	sum, err := digests.of(within(file))
	if err != nil {
		return ""
	}
	lines := []string{within(file) + " sha256 " + sum}
	folders := slices.ContainsFunc(runsFolders, func(name string) bool { return strings.HasPrefix(filepath.Base(file), name) })
	for i, arg := range s.Args {
		called, candidates := arg, []string{arg}
		switch info, err := os.Stat(within(arg)); {
		case folders && i > 0 && s.Args[i-1] == "-m": // python looks in its folder first
			module := filepath.Join(strings.Split(arg, ".")...)
			called, candidates = "-m "+arg, []string{module, module + ".py"}
		case isScript(arg):
		case folders && err == nil && info.IsDir():
		default:
			continue
		}
		folders = false // the following arguments are the program's own
		line := fmt.Sprintf("%s: what it runs cannot be seen (not found from %s, or more than %d scripts)", called, dir, maxFolderFiles)
		for _, place := range slices.Backward(candidates) {
			if sum, err := digests.ofAll(within(place)); err == nil {
				line = within(place) + " sha256 " + sum
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func isScript(name string) bool {
	return slices.Contains(scripts, strings.ToLower(filepath.Ext(name)))
}

// maxFolderFiles bounds the files that are hashed in a folder.
const maxFolderFiles = 2000

// ofAll returns the digest of a file, or of package.json and all scripts in a
// folder.
func (d *hasher) ofAll(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() {
		return d.of(name)
	}
	all, files := sha256.New(), 0
	err = filepath.WalkDir(name, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !isScript(file) && entry.Name() != "package.json" {
			return err
		}
		if files++; files > maxFolderFiles {
			return fs.SkipAll
		}
		sum, err := d.of(file)
		fmt.Fprintf(all, "%s %s\n", file, sum)
		return err
	})
	if err == nil && (files == 0 || files > maxFolderFiles) {
		err = fs.ErrInvalid
	}
	return fmt.Sprintf("%x", all.Sum(nil)[:16]), err
}

// digests caches the digests of unchanged files: several servers run the same
// interpreter, which may be 100 MB.
var digests = hasher{known: map[stamp]string{}}

type hasher struct {
	mu    sync.Mutex
	known map[stamp]string
}

// stamp identifies the version of a file that was hashed.
type stamp struct {
	path  string
	size  int64
	mtime time.Time
}

func (d *hasher) of(file string) (string, error) {
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
