package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"lifehub/internal/files"
)

// RememberNotes adds a folder to `notes:` in the settings file. The rest of the file, including
// comments, is unchanged.
func RememberNotes(file, dir string) error {
	data, c, err := read(file)
	if err != nil {
		return err
	}
	for _, known := range c.Notes {
		if known == dir {
			return nil
		}
	}
	list := "notes:\n"
	for _, dir := range append(c.Notes, dir) {
		list += "  - " + quoteYAML(dir) + "\n"
	}
	data = withKey(data, "notes:", list)
	after := Defaults()
	if err := after.ReadFile(file, data); err != nil || !slices.Equal(after.Notes, append(c.Notes, dir)) {
		return fmt.Errorf("add %s to the notes in %s: LifeHub cannot change this file; add it by hand", dir, file)
	}
	return files.Write(file, data)
}

// Save writes a top-level setting to the settings file. The rest of the file is unchanged.
func (p Paths) Save(name, value string) error {
	file := p.ConfigFile()
	data, c, err := read(file)
	if err != nil {
		return err
	}
	s, err := c.Setting(name)
	if err == nil {
		err = s.set([]string{value}, false)
	}
	if err != nil {
		return fmt.Errorf("save the setting %s: %w", name, err)
	}
	data = withKey(data, name+":", name+": "+quoteYAML(value)+"\n")
	if err := Defaults().ReadFile(file, data); err != nil {
		return fmt.Errorf("save the setting %s: LifeHub cannot change %s; set it there by hand", name, file)
	}
	return files.Write(file, data)
}

// read reads only the settings file, which may be missing.
func read(file string) ([]byte, *Config, error) {
	data, err := files.Read(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("read settings: %w", err)
	}
	c := Defaults()
	return data, c, c.ReadFile(file, data)
}

// withKey replaces the value of a top-level key, or appends the key.
func withKey(data []byte, key, text string) []byte {
	lines := strings.SplitAfter(string(data), "\n")
	from := -1
	for i, line := range lines {
		if strings.HasPrefix(line, key) {
			from = i
			break
		}
	}
	if from < 0 {
		head := string(data)
		if head != "" && !strings.HasSuffix(head, "\n") {
			head += "\n"
		}
		return []byte(head + text)
	}
	to := from + 1 // the value extends to the next line that begins a key or a comment
	for to < len(lines) && lines[to] != "" && strings.ContainsAny(lines[to][:1], " \t-]\n") {
		to++
	}
	return []byte(strings.Join(lines[:from], "") + text + strings.Join(lines[to:], ""))
}

// quoteYAML returns a string as a double-quoted YAML scalar, which allows JSON's escapes. Invalid
// UTF-8 in a path is preserved.
func quoteYAML(s string) string {
	quoted, _ := json.Marshal(files.Escape(s)) // marshalling a string cannot fail
	return files.Unescape(string(quoted))
}
