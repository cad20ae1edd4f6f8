package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lifehub/internal/files"
)

// InstructionsName is the file of instructions that a folder of notes may have. They have no effect
// until the user has reviewed them.
var InstructionsName = filepath.Join(".lifehub", "instructions.md")

// Reviewed maps the files of a folder that the user has reviewed to what they must be: the text of
// its instructions, and the SHA-256 sum of each file of a skill.
type Reviewed map[string]string

// reviewedText is the key of the instructions.
const reviewedText = "instructions.md"

// Trusted maps the absolute paths of trusted folders to their reviewed files.
type Trusted map[string]Reviewed

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

// Review returns the files of a folder that have an effect once the user has reviewed them, and
// their texts by the path relative to dir. One that is not regular, or is too long, is an error.
func Review(dir string) (now Reviewed, texts map[string][]byte, err error) {
	now, texts, err = ReadSkills(dir)
	if err != nil {
		return nil, nil, err
	}
	text, err := readInstructions(dir)
	if err == nil && text != "" {
		now[reviewedText], texts[InstructionsName] = text, []byte(text)
	}
	return now, texts, err
}

// readInstructions returns the instructions of a folder, or "".
func readInstructions(dir string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", fmt.Errorf("read the instructions of %s: %w", dir, err)
	}
	defer root.Close()
	info, err := root.Lstat(InstructionsName)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	var text []byte
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", InstructionsName)
	} else if err == nil {
		text, err = files.ReadIn(root, InstructionsName)
	}
	if err != nil {
		return "", fmt.Errorf("read the instructions of %s: %w", dir, err)
	}
	return string(text), nil
}

// Instructions are those of the folders of notes of a run.
type Instructions struct {
	Texts   []string // as the user reviewed them
	Notices []string // about what has no effect
}

// Instructions returns the reviewed instructions of folders of notes. Later changes have no effect
// and get a notice. So do settings in a folder, which are never read.
func (p Paths) Instructions(dirs []string) (all Instructions, err error) {
	known, err := p.ReadTrusted()
	if err != nil {
		return Instructions{}, err
	}
	for _, name := range dirs {
		dir, err := VaultDir(name)
		if err != nil {
			continue // opening the folder reports it
		}
		all.Notices = append(all.Notices, unreadSettings(dir)...)
		file, was := filepath.Join(dir, InstructionsName), known[dir][reviewedText]
		switch now, err := readInstructions(dir); {
		case err == nil && now == was:
		case was == "":
			all.Notices = append(all.Notices, fmt.Sprintf("%s is not used; `lifehub config trust` shows it", file))
		default:
			all.Notices = append(all.Notices, file+" has changed since you trusted it; the trusted text stays in "+
				"force; "+
				"`lifehub config trust` shows the new one")
		}
		if text := strings.TrimSpace(was); text != "" {
			all.Texts = append(all.Texts, text)
		}
	}
	return all, nil
}

// unreadSettings returns a notice if a folder of notes has files that look like LifeHub's settings.
func unreadSettings(dir string) []string {
	var found []string
	for _, name := range []string{"config.yaml", "permissions.yaml"} {
		name = filepath.Join(".lifehub", name)
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("settings in a folder of notes are never read: %s in %s",
		strings.Join(found, " and "), dir)}
}
