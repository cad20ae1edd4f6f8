package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// SkillsFolder is where a folder keeps skills, each in a folder of its own with a
// SKILL.md, as https://agentskills.io has it.
const SkillsFolder = ".agents/skills"

// Bounds of the skills of one folder.
const (
	maxSkillFiles = 500
	maxSkillBytes = 4 << 20
)

// ReadSkills reads the files of a folder's skills and the SHA-256 of each, by their
// paths below the folder, with slashes. What is no plain file inside it, or is too
// much, is an error.
func ReadSkills(dir string) (sums PolicyFiles, texts map[string][]byte, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("read the skills of %s: %w", dir, err)
	}
	defer root.Close()
	sums, texts = PolicyFiles{}, map[string][]byte{}
	room := int64(maxSkillBytes)
	err = fs.WalkDir(root.FS(), SkillsFolder, func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && name == SkillsFolder:
			return fs.SkipAll
		case err != nil || d.IsDir():
			return err
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is not a regular file", name)
		case len(sums) == maxSkillFiles:
			return fmt.Errorf("%s has more than %d files", SkillsFolder, maxSkillFiles)
		}
		file, err := root.Open(filepath.FromSlash(name))
		if err != nil {
			return err
		}
		defer file.Close()
		text, err := io.ReadAll(io.LimitReader(file, room+1))
		if room -= int64(len(text)); err == nil && room < 0 {
			err = fmt.Errorf("%s has more than %d MiB", SkillsFolder, maxSkillBytes>>20)
		}
		sum := sha256.Sum256(text)
		sums[name], texts[name] = hex.EncodeToString(sum[:]), text
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read the skills of %s: %w", dir, err)
	}
	return sums, texts, nil
}

// Skills are the files of a folder's skills that may be read, and what they must hold.
type Skills struct {
	Dir   string
	Files PolicyFiles
}

// TrustedSkills are the skills of the user's home and of those folders whose skills
// the user trusts as they are now. Others are told of.
func (p Paths) TrustedSkills(dirs []string) (list []Skills, notices []string, err error) {
	known, err := p.ReadTrusted()
	if err != nil {
		return nil, nil, err
	}
	seen := map[string]bool{}
	for i, name := range append([]string{p.Home}, dirs...) {
		dir, err := VaultDir(name)
		if err != nil || seen[dir] {
			continue // opening it says so
		}
		seen[dir] = true
		now, _, err := ReadSkills(dir)
		was := known[dir].part(true)
		switch {
		case i == 0 && err != nil:
			notices = append(notices, fmt.Sprintf("no skill is used: %v", err))
		case len(now) == 0 && err == nil:
		case i == 0 || err == nil && maps.Equal(was, now):
			list = append(list, Skills{dir, now})
		default:
			what := "contains skills"
			if len(was) > 0 {
				what = "contains skills that have changed since you trusted them"
			}
			notices = append(notices, fmt.Sprintf("%s %s in %s, which are not used; `lifehub config trust %s` shows them", dir, what, SkillsFolder, dir))
		}
	}
	return list, notices, nil
}

// part is what of a folder's trusted files are skills, or the others.
func (f PolicyFiles) part(skills bool) PolicyFiles {
	part := PolicyFiles{}
	for name, text := range f {
		if strings.HasPrefix(name, SkillsFolder+"/") == skills {
			part[name] = text
		}
	}
	return part
}

// SkillOf is the folder of a skill's file, and the name of the file in it.
func SkillOf(file string) (folder, name string) {
	below := strings.TrimPrefix(file, SkillsFolder+"/")
	skill, name, _ := strings.Cut(below, "/")
	return path.Join(SkillsFolder, skill), name
}
