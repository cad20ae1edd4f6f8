package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/internal/files"
	"lifehub/internal/userfile"
)

// PolicyNames are what a folder of notes may hold for LifeHub, below
// .lifehub. Nothing of it is obeyed before the user has seen and trusted it,
// and then it can only make things stricter. No server, address or key is ever
// taken from there.
var PolicyNames = []string{"permissions.yaml", "config.yaml", "instructions.md"}

// PolicyFolder is the folder that holds them.
const PolicyFolder = ".lifehub"

// PolicyFiles are the texts of these files, by name. What was trusted is kept as it
// was, so that a change of the folder neither adds to it nor takes from it.
type PolicyFiles map[string]string

// Trusted are the folders that the user trusts, by absolute path.
type Trusted map[string]PolicyFiles

func (p Paths) TrustedFile() string { return filepath.Join(p.Data, "trusted-folders.json") }

// ReadTrusted reads what was trusted so far; without the file that is nothing.
func (p Paths) ReadTrusted() (Trusted, error) {
	text, err := os.ReadFile(p.TrustedFile())
	if errors.Is(err, fs.ErrNotExist) {
		return Trusted{}, nil
	}
	known := Trusted{}
	if err == nil {
		err = json.Unmarshal(text, &known)
	}
	if err != nil {
		return nil, fmt.Errorf("read which folders are trusted, in %s: %w", p.TrustedFile(), err)
	}
	return known, nil
}

func (p Paths) WriteTrusted(known Trusted) error {
	text, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return fmt.Errorf("save which folders are trusted: %w", err)
	}
	return files.Write(p.TrustedFile(), append(text, '\n'))
}

// ReadPolicy reads what a folder holds for LifeHub now. What is no plain
// file inside the folder, or is too long, is an error.
func ReadPolicy(dir string) (PolicyFiles, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("read the settings of %s: %w", dir, err)
	}
	defer root.Close()
	files := PolicyFiles{}
	for _, name := range PolicyNames {
		text, err := readPlain(root, filepath.Join(PolicyFolder, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the settings of %s: %w", dir, err)
		}
		files[name] = text
	}
	return files, nil
}

func readPlain(root *os.Root, name string) (string, error) {
	if info, err := root.Lstat(name); err != nil {
		return "", err
	} else if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", name)
	}
	text, err := userfile.ReadIn(root, name)
	return string(text), err
}

// VaultPolicy is what trusted folders ask for.
type VaultPolicy struct {
	Rules   *gate.Rules
	Persona []string
	Notices []string // what the user should know of it

	WithoutEffect []string // what they ask for and do not get: it would loosen something
}

// VaultPolicy collects what the folders of a run ask for and narrows the
// settings. Folders that are not trusted are told of and not obeyed.
func (p Paths) VaultPolicy(c *Config, dirs []string) (VaultPolicy, error) {
	known, err := p.ReadTrusted()
	if err != nil {
		return VaultPolicy{}, err
	}
	var n VaultPolicy
	for _, name := range dirs {
		dir, err := VaultDir(name)
		if err != nil {
			continue // opening it says so
		}
		now, err := ReadPolicy(dir)
		was, isTrusted := known[dir].part(false), len(known[dir].part(false)) > 0
		switch {
		case !isTrusted && (err != nil || len(now) > 0):
			n.Notices = append(n.Notices, fmt.Sprintf("%s contains LifeHub settings in %s, which are ignored; `lifehub config trust` shows them", dir, PolicyFolder))
			continue
		case !isTrusted:
			continue
		case err != nil || !maps.Equal(was, now):
			n.Notices = append(n.Notices, fmt.Sprintf("the settings in %s have changed since you trusted them; the trusted ones stay in force; `lifehub config trust` shows the new ones", filepath.Join(dir, PolicyFolder)))
		}
		if err := n.Add(c, dir, was); err != nil {
			return VaultPolicy{}, UsageError{Err: err}
		}
	}
	return n, nil
}

// Add obeys the files of one folder.
func (n *VaultPolicy) Add(c *Config, dir string, files PolicyFiles) error {
	at := func(name string) string { return filepath.Join(dir, PolicyFolder, name) }
	if text, ok := files["permissions.yaml"]; ok {
		rules, err := gate.Parse(at("permissions.yaml"), []byte(text))
		if err != nil {
			return err
		}
		for _, rule := range rules.List() {
			if rule.Level == agent.Auto {
				n.WithoutEffect = append(n.WithoutEffect, "ignored, because it loosens: "+rule.String())
				continue
			}
			n.Rules = n.Rules.With(rule)
		}
	}
	if text, ok := files["config.yaml"]; ok {
		asked := Defaults()
		if err := asked.ReadFile(at("config.yaml"), []byte(text)); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(asked.Origin)) {
			if narrow := stricter[name]; narrow != nil && narrow(c, asked) {
				c.Origin[name] = asked.Origin[name]
			} else {
				n.WithoutEffect = append(n.WithoutEffect, fmt.Sprintf("ignored: %s (%s)", name, asked.Origin[name]))
			}
		}
	}
	if text := strings.TrimSpace(files["instructions.md"]); text != "" {
		n.Persona = append(n.Persona, text)
	}
	return nil
}

// stricter are the settings that a trusted folder may make stricter, and
// how. All others of its config are without effect.
var stricter = map[string]func(c, asked *Config) bool{
	"tools.off": func(c, asked *Config) bool {
		c.Tools.Off = append(slices.Clone(c.Tools.Off), asked.Tools.Off...)
		return true
	},
	"provider": func(c, asked *Config) bool {
		if asked.Provider != "offline" {
			return false
		}
		c.Provider = asked.Provider
		return true
	},
	"memory.scope": func(c, asked *Config) bool {
		order := []string{"off", "conversation", "all"}
		if slices.Index(order, asked.Memory.Scope) >= slices.Index(order, c.Memory.Scope) {
			return false
		}
		c.Memory.Scope = asked.Memory.Scope
		return true
	},
}
