package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"lifehub/internal/atomicfile"
)

// RememberNotes adds a folder to `notes:` of the settings file and leaves
// the rest of the file, its comments too, as it is.
func RememberNotes(file, dir string) error {
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read settings: %w", err)
	}
	c := Defaults()
	if err := c.ReadFile(file, data); err != nil {
		return err
	}
	for _, known := range c.Notes {
		if known == dir {
			return nil
		}
	}
	return atomicfile.Write(file, withNotes(data, append(c.Notes, dir)))
}

// withNotes replaces the value of the top-level key notes by a list.
func withNotes(data []byte, dirs []string) []byte {
	var list strings.Builder
	list.WriteString("notes:\n")
	for _, dir := range dirs {
		fmt.Fprintf(&list, "  - %s\n", quoteYAML(dir))
	}
	lines := strings.SplitAfter(string(data), "\n")
	from := -1
	for i, line := range lines {
		if strings.HasPrefix(line, "notes:") {
			from = i
			break
		}
	}
	if from < 0 {
		head := string(data)
		if head != "" && !strings.HasSuffix(head, "\n") {
			head += "\n"
		}
		return []byte(head + list.String())
	}
	to := from + 1 // the value ends before the next line that begins a key or a comment
	for to < len(lines) && lines[to] != "" && strings.ContainsAny(lines[to][:1], " \t-]\n") {
		to++
	}
	return []byte(strings.Join(lines[:from], "") + list.String() + strings.Join(lines[to:], ""))
}

// quoteYAML writes a text as a double-quoted scalar, which takes JSON's escapes.
func quoteYAML(s string) string {
	quoted, _ := json.Marshal(s) // a string always can be
	return string(quoted)
}
