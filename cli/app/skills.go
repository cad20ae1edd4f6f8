package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"lifehub/agent"
	"lifehub/cli/settings"
	"lifehub/llm"
	"lifehub/notes"
	"lifehub/tui/draw"
)

// skill is a set of instructions for a kind of task that the user trusts.
type skill struct {
	Prompt
	in    settings.Skills
	at    string   // its folder, relative to in.Dir
	files []string // files other than SKILL.md, relative to at
}

// skillName matches the names that the Agent Skills format allows.
var skillName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// Skills are the skills of trusted folders.
type Skills struct {
	List   []skill
	Unused []string // skills that are not used, with the reason
}

// ReadSkills reads the skills of folders. Of several with the same name the first is used. Unusable
// ones are listed in Unused.
func ReadSkills(folders []settings.Skills) (all Skills) {
	for _, in := range folders {
		for _, file := range slices.Sorted(maps.Keys(in.Files)) {
			at, name := settings.SkillOf(file)
			if name != "SKILL.md" {
				continue
			}
			s := skill{in: in, at: at}
			err := s.readHead()
			if err == nil && slices.ContainsFunc(all.List, func(other skill) bool { return other.Name == s.Name }) {
				err = errors.New("another skill has this name")
			}
			if err != nil {
				all.Unused = append(all.Unused, fmt.Sprintf("the skill %s is not used: %v",
					filepath.Join(in.Dir, file), err))
				continue
			}
			for _, other := range slices.Sorted(maps.Keys(in.Files)) {
				if of, name := settings.SkillOf(other); of == at && name != "SKILL.md" {
					s.files = append(s.files, name)
				}
			}
			if s.Text = strings.TrimSpace(s.Text); len(s.files) > 0 {
				s.Text += "\n\nOther files of this skill, for " + agent.ReadSkill + ": " + strings.Join(s.files, ", ")
			}
			all.List = append(all.List, s)
		}
	}
	return all
}

// readHead reads SKILL.md. Front matter other than the name and the description is ignored,
// including requests to allow tools.
func (s *skill) readHead() error {
	raw, err := s.read("SKILL.md")
	if err != nil {
		return err
	}
	front, body, err := notes.Front([]byte(raw))
	if err != nil {
		return err
	}
	name, _ := front["name"].(string)
	description, _ := front["description"].(string)
	switch {
	case !skillName.MatchString(name) || len(name) > 64 || name != path.Base(s.at):
		return fmt.Errorf("its name %q must match its folder's name: small letters, digits and single -, at most 64",
			draw.Summary(name, 64))
	case strings.TrimSpace(description) == "":
		return errors.New("its front matter has no description")
	}
	s.Name, s.Text, s.File = name, body, filepath.Join(s.in.Dir, s.at, "SKILL.md")
	s.Description = draw.Summary(strings.Join(strings.Fields(description), " "), maxDescription)
	return nil
}

// read returns a file of the skill if it is unchanged since the user trusted it.
func (s *skill) read(name string) (string, error) {
	sum, known := s.in.Files[s.at+"/"+name]
	if !known {
		return "", fmt.Errorf("the skill has no file %q, it has: %s", name,
			strings.Join(append([]string{"SKILL.md"}, s.files...), ", "))
	}
	root, err := os.OpenRoot(filepath.Join(s.in.Dir, filepath.FromSlash(s.at)))
	if err != nil {
		return "", err
	}
	defer root.Close()
	raw, err := root.ReadFile(filepath.FromSlash(name))
	if err != nil {
		return "", err
	}
	if is := sha256.Sum256(raw); hex.EncodeToString(is[:]) != sum {
		return "", fmt.Errorf("%s has changed since it was read and trusted; a new start of LifeHub looks at it again",
			name)
	}
	if !utf8.Valid(raw) {
		return "", fmt.Errorf("%s is not text", name)
	}
	return string(raw), nil
}

// Prompts returns the skills as prompts, which become commands.
func (all Skills) Prompts() (prompts []Prompt) {
	for _, s := range all.List {
		prompts = append(prompts, s.Prompt)
	}
	return prompts
}

// Bounds of what the prompt says about one skill and about all, in characters.
const (
	maxDescription = 300
	maxListed      = 1500
)

// Tool returns the tool that reads skills.
func (all Skills) Tool() agent.Tool {
	list := all.List
	description := "Read a skill: instructions that the user trusts for a kind of task. When one fits the message, " +
		"read it first and do as it says. " +
		"file names another file of it; left out, it is SKILL.md."
	if len(list) > 0 {
		description += " The skills:"
	}
	for _, s := range list {
		description += "\n- " + draw.Summary(s.Name+": "+s.Description, max(maxListed/len(list), 8))
	}
	type arguments struct{ Name, File string }
	return agent.NewTool(llm.ToolSpec{
		Name: agent.ReadSkill, Description: description,
		Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"file":{"type":"string"}},` +
			`"required":["name"],"additionalProperties":false}`),
	}, agent.Auto, func(_ context.Context, given arguments) (agent.Result, error) {
		i := slices.IndexFunc(list, func(s skill) bool { return s.Name == given.Name })
		if i < 0 {
			return agent.Result{}, fmt.Errorf("unknown skill %q", given.Name)
		}
		s := list[i]
		if given.File != "" && given.File != "SKILL.md" {
			text, err := s.read(given.File)
			return agent.Result{Text: text, Instructions: true}, err
		}
		return agent.Result{Text: s.Text, Instructions: true}, nil
	}, agent.Describes)
}
