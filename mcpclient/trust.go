package mcpclient

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
	"sync"
)

// Trust remembers what the user has seen of each server: its definition and
// its tools. What is seen for the first time is taken as it is, for the user
// wrote mcp.json; what changes afterwards is not used until it was seen
// again. It is safe for concurrent use.
type Trust struct {
	file string
	mu   sync.Mutex
	seen map[string]*pins // by server
}

// pins are the texts of what was seen of a server.
type pins struct {
	Definition string            `json:"definition"`
	Tools      map[string]string `json:"tools,omitempty"` // by the server's own names; nil: never listed
}

// Change is something of a server that is not as the user has seen it.
type Change struct {
	What   string `json:"what"`             // "definition", or the tool's name as the server calls it
	Before string `json:"before,omitempty"` // "": it was not there
	After  string `json:"after"`
}

// OpenTrust reads the file; one that is not there has seen nothing.
func OpenTrust(file string) (*Trust, error) {
	t := &Trust{file: file, seen: map[string]*pins{}}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &t.seen)
	}
	if err != nil {
		return nil, fmt.Errorf("read trusted MCP servers in %s: %w", file, err)
	}
	return t, nil
}

// definition compares a server's definition with what was seen.
func (t *Trust) definition(s Server) ([]Change, error) {
	if t == nil {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	text := s.definition()
	known := t.seen[s.Name]
	if known == nil {
		t.seen[s.Name] = &pins{Definition: text}
		return nil, t.save()
	}
	if known.Definition == text {
		return nil, nil
	}
	return []Change{{What: "definition", Before: known.Definition, After: text}}, nil
}

// tools compares a server's tools, texts by name, with what was seen.
func (t *Trust) tools(server string, texts map[string]string) ([]Change, error) {
	if t == nil {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.seen[server]
	if known == nil {
		known = &pins{}
		t.seen[server] = known
	}
	if known.Tools == nil {
		known.Tools = maps.Clone(texts)
		return nil, t.save()
	}
	var changes []Change
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if before, ok := known.Tools[name]; !ok || before != texts[name] {
			changes = append(changes, Change{What: name, Before: before, After: texts[name]})
		}
	}
	return changes, nil
}

// accept takes changes as seen.
func (t *Trust) accept(server string, changes []Change) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.seen[server]
	if known == nil {
		known = &pins{}
		t.seen[server] = known
	}
	for _, c := range changes {
		if c.What == "definition" {
			known.Definition = c.After
			continue
		}
		if known.Tools == nil {
			known.Tools = map[string]string{}
		}
		known.Tools[c.What] = c.After
	}
	return t.save()
}

// Forget makes the next sight of a server its first one: for one that the
// user has just taken out of mcp.json.
func (t *Trust) Forget(server string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.seen, server)
	return t.save()
}

// save replaces the file as a whole.
func (t *Trust) save() error {
	data, err := json.MarshalIndent(t.seen, "", "  ")
	if err == nil {
		err = replace(t.file, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep trusted MCP servers: %w", err)
	}
	return nil
}

// replace writes a file so that it holds either all of the old or all of the new.
func replace(file string, data []byte) error {
	path, err := writeNew(filepath.Dir(file), filepath.Base(file)+".*.new", data)
	if err != nil {
		return err
	}
	if err := os.Rename(path, file); err != nil {
		_ = os.Remove(path)
		return err
	}
	return nil
}

// definition is what of an entry decides what runs or who is spoken to. The
// values of variables are not in it: they may be secret.
func (s Server) definition() string {
	var lines []string
	add := func(what, value string) {
		if value != "" {
			lines = append(lines, what+": "+value)
		}
	}
	add("type", string(s.Transport))
	if s.Command != "" {
		add("command", commandLine(s.Command, s.Args))
	}
	add("folder", s.Cwd)
	add("url", s.URL)
	add("variables", strings.Join(slices.Sorted(maps.Keys(s.Env)), ", "))
	add("headers", strings.Join(slices.Sorted(maps.Keys(s.Headers)), ", "))
	add("told of", strings.Join(s.Roots, ", "))
	return strings.Join(lines, "\n")
}

// Unseen are the changes of a server that wait to be seen.
func (s *Servers) Unseen(server string) []Change {
	one, err := s.find(server)
	if err != nil {
		return nil
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	return slices.Clone(one.unseen)
}

// Accept takes a server's changes, as the user has seen them, and goes on
// with it. A change that came after seen was read stays unseen.
func (s *Servers) Accept(server string, seen []Change) error {
	one, err := s.find(server)
	if err != nil {
		return err
	}
	if s.Trust == nil {
		return nil
	}
	if err := s.Trust.accept(server, seen); err != nil {
		return err
	}
	one.mu.Lock()
	off := one.status == Off
	one.mu.Unlock()
	if off {
		return s.Restart(server)
	}
	one.touch()
	return nil
}

// Restart starts a server again, whether it is running or off.
func (s *Servers) Restart(server string) error {
	one, err := s.find(server)
	if err != nil {
		return err
	}
	select {
	case one.again <- struct{}{}:
	default: // it is about to
	}
	return nil
}
