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

// SkillsFolder is the folder of skills, one folder with a SKILL.md per skill, as defined by
// https://agentskills.io.
const SkillsFolder = ".agents/skills"

// Limits on the skills of one folder.
const (
	maxSkillFiles = 500
	maxSkillBytes = 4 << 20
)

// ReadSkills reads the files of a folder's skills. It returns their texts and SHA-256 sums by
// slash-separated path relative to dir. A file that is not regular, or exceeds a limit, is an
// error.
func ReadSkills(dir string) (sums Reviewed, texts map[string][]byte, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("read the skills of %s: %w", dir, err)
	}
	defer root.Close()
	sums, texts = Reviewed{}, map[string][]byte{}
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

// Skills are the skill files of a folder that may be read, with the sum that each must have.
type Skills struct {
	Dir   string
	Files Reviewed
}

// TrustedSkills returns the skills in the user's home folder, and those in dirs that are unchanged
// since the user trusted them. Others get a notice.
func (p Paths) TrustedSkills(dirs []string) (list []Skills, notices []string, err error) {
	known, err := p.ReadTrusted()
	if err != nil {
		return nil, nil, err
	}
	seen := map[string]bool{}
	for i, name := range append([]string{p.Home}, dirs...) {
		dir, err := VaultDir(name)
		if err != nil || seen[dir] {
			continue // opening the folder reports it
		}
		seen[dir] = true
		now, _, err := ReadSkills(dir)
		was := known[dir].skills()
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

// skills returns the files that belong to skills.
func (r Reviewed) skills() Reviewed {
	sums := maps.Clone(r)
	maps.DeleteFunc(sums, func(name, _ string) bool { return !strings.HasPrefix(name, SkillsFolder+"/") })
	return sums
}

// SkillOf splits the path of a skill's file into the skill's folder and the name relative to it.
func SkillOf(file string) (folder, name string) {
	below := strings.TrimPrefix(file, SkillsFolder+"/")
	skill, name, _ := strings.Cut(below, "/")
	return path.Join(SkillsFolder, skill), name
}
