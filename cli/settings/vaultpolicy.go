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

// PolicyNames are the settings files that a folder of notes may have in .lifehub. They have no
// effect until the user has reviewed and trusted them, and can then only make things stricter.
// Servers, addresses and keys are never taken from them.
var PolicyNames = []string{"permissions.yaml", "config.yaml", "instructions.md"}

// PolicyFolder is the folder of these files.
const PolicyFolder = ".lifehub"

// PolicyFiles maps names to contents. Trusted contents are saved, so that later changes in the
// folder have no effect.
type PolicyFiles map[string]string

// Trusted maps the absolute paths of trusted folders to their files.
type Trusted map[string]PolicyFiles

func (p Paths) TrustedFile() string { return filepath.Join(p.Data, "trusted-folders.json") }

// ReadTrusted reads the trusted folders. A missing file means none.
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

// ReadPolicy reads the settings files of a folder. One that is not regular, or is too long, is an
// error.
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

// VaultPolicy is the combined policy of trusted folders.
type VaultPolicy struct {
	Rules   *gate.Rules
	Persona []string
	Notices []string // what the user should know about it

	WithoutEffect []string // requests that are ignored because they would loosen something
}

// VaultPolicy combines the policies of the folders of a run and restricts the settings. Folders
// that are not trusted have no effect and get a notice.
func (p Paths) VaultPolicy(c *Config, dirs []string) (VaultPolicy, error) {
	known, err := p.ReadTrusted()
	if err != nil {
		return VaultPolicy{}, err
	}
	var n VaultPolicy
	for _, name := range dirs {
		dir, err := VaultDir(name)
		if err != nil {
			continue // opening the folder reports it
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

// Add applies the files of one folder.
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
		requested := Defaults()
		if err := requested.ReadFile(at("config.yaml"), []byte(text)); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(requested.Origin)) {
			if narrow := stricter[name]; narrow != nil && narrow(c, requested) {
				c.Origin[name] = requested.Origin[name]
			} else {
				n.WithoutEffect = append(n.WithoutEffect, fmt.Sprintf("ignored: %s (%s)", name, requested.Origin[name]))
			}
		}
	}
	if text := strings.TrimSpace(files["instructions.md"]); text != "" {
		n.Persona = append(n.Persona, text)
	}
	return nil
}

// stricter maps the settings that a trusted folder may make stricter to functions that do so and
// report whether anything changed. All other settings in its config are ignored.
var stricter = map[string]func(c, requested *Config) bool{
	"tools.off": func(c, requested *Config) bool {
		c.Tools.Off = append(slices.Clone(c.Tools.Off), requested.Tools.Off...)
		return true
	},
	"provider": func(c, requested *Config) bool {
		if requested.Provider != "offline" {
			return false
		}
		c.Provider = requested.Provider
		return true
	},
	"memory.scope": func(c, requested *Config) bool {
		order := []string{"off", "conversation", "all"}
		if slices.Index(order, requested.Memory.Scope) >= slices.Index(order, c.Memory.Scope) {
			return false
		}
		c.Memory.Scope = requested.Memory.Scope
		return true
	},
}
