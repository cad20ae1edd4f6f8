package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"

	"lifehub/internal/files"
)

// Paths are the folders of LifeHub's files.
type Paths struct {
	Config string // config.yaml, permissions.yaml, mcp.json, instructions.md, prompts/
	Data   string // lifehub.db, index/
	State  string // logs
	Home   string // .agents/skills
}

// FindPaths follows the XDG base directory specification. LIFEHUB_HOME puts everything below one
// folder.
func FindPaths(getenv func(string) (string, bool)) (Paths, error) {
	if home, _ := getenv("LIFEHUB_HOME"); home != "" {
		home, err := filepath.Abs(home)
		if err != nil {
			return Paths{}, fmt.Errorf("find LIFEHUB_HOME: %w", err)
		}
		return Paths{filepath.Join(home, "config"), filepath.Join(home, "data"), filepath.Join(home, "state"), home},
			nil
	}
	return Paths{
		Config: filepath.Join(xdg.ConfigHome, "lifehub"),
		Data:   filepath.Join(xdg.DataHome, "lifehub"),
		State:  filepath.Join(xdg.StateHome, "lifehub"),
		Home:   xdg.Home,
	}, nil
}

func (p Paths) ConfigFile() string       { return filepath.Join(p.Config, "config.yaml") }
func (p Paths) PermissionsFile() string  { return filepath.Join(p.Config, "permissions.yaml") }
func (p Paths) ServersFile() string      { return filepath.Join(p.Config, "mcp.json") }
func (p Paths) InstructionsFile() string { return filepath.Join(p.Config, "instructions.md") }
func (p Paths) PromptsFolder() string    { return filepath.Join(p.Config, "prompts") } // folder of *.md
func (p Paths) Database() string         { return filepath.Join(p.Data, "lifehub.db") }
func (p Paths) ServerFiles() string      { return filepath.Join(p.Data, "mcp-files") }
func (p Paths) MemoryFolder() string     { return filepath.Join(p.Data, "memory") } // folder of memory.md
func (p Paths) HookTrustFile() string    { return filepath.Join(p.Data, "hook-trust.json") }

// what the model server lacked when that was last reported
func (p Paths) Reported() string { return filepath.Join(p.State, "told") }

// the last reported model server of unknown owner
func (p Paths) Found() string       { return filepath.Join(p.State, "found") }
func (p Paths) Used() string        { return filepath.Join(p.State, "used.json") } // uses of each slash command
func (p Paths) CaptureLock() string { return filepath.Join(p.State, "capture.lock") }

// held by the process that serves the page
func (p Paths) ServeLock() string { return filepath.Join(p.State, "serve.lock") }
func (p Paths) Served() string    { return filepath.Join(p.State, "serve.json") } // where, and the next link
func (p Paths) Compiled() string  { return filepath.Join(p.State, "compiled") }   // cache of the reader of PDFs
func (p Paths) LogFile() string   { return filepath.Join(p.State, "lifehub.log") }

// Index returns the folder of a vault's index. The vault's name makes it readable, the hash of the
// vault's path makes it unique.
func (p Paths) Index(vault string) string {
	sum := sha256.Sum256([]byte(vault))
	name := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, filepath.Base(vault))
	return filepath.Join(p.Data, "index", name+"-"+hex.EncodeToString(sum[:4]))
}

// VaultDir returns the absolute path of a notes folder, with symbolic links resolved. A folder that
// does not answer is an error.
func VaultDir(dir string) (string, error) {
	return files.Promptly(func(func()) (string, error) { return vaultDir(dir) })
}

func vaultDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", missingFolder(dir)
	}
	if err != nil {
		return "", fmt.Errorf("find the notes: %w", err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return "", fmt.Errorf("find the notes: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("find the notes: %s is not a folder", abs)
	}
	opened, err := os.Open(abs) // the system may answer the above from memory, though the folder does not
	if err == nil {
		err = opened.Close()
	}
	if err != nil {
		return "", fmt.Errorf("find the notes: %w", err)
	}
	return abs, nil
}

// missingFolder is the error for a folder that does not exist.
type missingFolder string

func (m missingFolder) Error() string { return "no such folder: " + string(m) }

func (missingFolder) Is(target error) bool { return target == fs.ErrNotExist }

func (p Paths) TrustFile() string { return filepath.Join(p.Data, "mcp-trust.json") }

func (p Paths) Credentials() string { return filepath.Join(p.Data, "mcp-passes") }

func (p Paths) ServerLogs() string { return filepath.Join(p.State, "mcp") }

func (p Paths) ServerLog(n string) string { return filepath.Join(p.ServerLogs(), n+".log") }
