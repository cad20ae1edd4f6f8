package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"
)

// paths are where LifeHub keeps its files.
type paths struct {
	config string // config.yaml, permissions.yaml, mcp.json, instructions.md, prompts/
	data   string // lifehub.db, index/
	state  string // logs
}

// findPaths follows the XDG rules; LIFEHUB_HOME puts all below one folder.
func findPaths(getenv func(string) (string, bool)) (paths, error) {
	if home, _ := getenv("LIFEHUB_HOME"); home != "" {
		home, err := filepath.Abs(home)
		if err != nil {
			return paths{}, fmt.Errorf("find LIFEHUB_HOME: %w", err)
		}
		return paths{filepath.Join(home, "config"), filepath.Join(home, "data"), filepath.Join(home, "state")}, nil
	}
	return paths{
		config: filepath.Join(xdg.ConfigHome, "lifehub"),
		data:   filepath.Join(xdg.DataHome, "lifehub"),
		state:  filepath.Join(xdg.StateHome, "lifehub"),
	}, nil
}

func (p paths) settings() string     { return filepath.Join(p.config, "config.yaml") }
func (p paths) permissions() string  { return filepath.Join(p.config, "permissions.yaml") }
func (p paths) servers() string      { return filepath.Join(p.config, "mcp.json") }
func (p paths) instructions() string { return filepath.Join(p.config, "instructions.md") }
func (p paths) prompts() string      { return filepath.Join(p.config, "prompts") } // folder of *.md
func (p paths) database() string     { return filepath.Join(p.data, "lifehub.db") }
func (p paths) serverFiles() string  { return filepath.Join(p.data, "mcp-files") }
func (p paths) chatNotes() string    { return filepath.Join(p.data, "chats") } // conversations as notes
func (p paths) chatIndex() string    { return p.index(p.chatNotes()) }
func (p paths) memory() string       { return filepath.Join(p.data, "memory") } // folder of memory.md
func (p paths) told() string         { return filepath.Join(p.state, "told") }  // what the model server lacked when that was told last
func (p paths) log() string          { return filepath.Join(p.state, "lifehub.log") }

// index is the folder of one vault's index. The vault's name makes it
// readable, the hash of its path unique.
func (p paths) index(vault string) string {
	sum := sha256.Sum256([]byte(vault))
	name := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, filepath.Base(vault))
	return filepath.Join(p.data, "index", name+"-"+hex.EncodeToString(sum[:4]))
}

// vaultDir is the absolute folder of notes behind an argument, links followed.
func vaultDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
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
	return abs, nil
}

func (p paths) trust() string { return filepath.Join(p.data, "mcp-trust.json") }

func (p paths) passes() string { return filepath.Join(p.data, "mcp-passes") }

func (p paths) serverLogs() string { return filepath.Join(p.state, "mcp") }

func (p paths) serverLog(n string) string { return filepath.Join(p.serverLogs(), n+".log") }
