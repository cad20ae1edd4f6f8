package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"lifehub/agent"
	"lifehub/internal/files"
)

// Trust records what the user has reviewed of each server: its entry in mcp.json
// and its tools. New or changed parts are not used until reviewed;
// Adopt and Typed define what counts as reviewed from the start. It is safe for
// concurrent use.
type Trust struct {
	File string
	mu   sync.Mutex
	new  bool             // no server was ever reviewed
	seen map[string]*pins // by server
}

// pins are the reviewed texts of a server.
type pins struct {
	Definition   string            `json:"definition"`
	Instructions string            `json:"instructions,omitempty"`
	Tools        map[string]string `json:"tools,omitempty"` // by the server's own names; nil: never listed
	// Listed are the tools in the server's last list, in its own format. They are
	// available before the server has started again.
	Listed map[string]string `json:"listed,omitempty"`
	// FirstUse means that the user wrote the entry: the first tools that the
	// server lists count as reviewed.
	FirstUse bool `json:"first_use,omitempty"`
}

// Change is a difference between a server and what the user has reviewed.
type Change struct {
	// one of the constants below, or toolChange and the server's name for the tool
	What   string `json:"what"`
	Before string `json:"before,omitempty"` // empty: new
	After  string `json:"after"`
}

// Parts of a server that can change.
const (
	entryChange        = "entry"
	instructionsChange = "instructions"
	toolChange         = "tool "
)

// Concerns reports whether the change prevents the use of a tool.
func (c Change) Concerns(tool string) bool {
	return c.What == instructionsChange || c.What == toolChange+tool
}

// OpenTrust reads the trust file; a missing file means that nothing was reviewed.
func OpenTrust(file string) (*Trust, error) {
	t := &Trust{File: file, seen: map[string]*pins{}}
	return t, t.read()
}

// read reads the file again, since another LifeHub process may have written it.
func (t *Trust) read() error {
	data, err := os.ReadFile(t.File)
	if errors.Is(err, fs.ErrNotExist) {
		t.new = len(t.seen) == 0
		return nil
	}
	seen := map[string]*pins{}
	if err == nil {
		err = json.Unmarshal(data, &seen)
	}
	if err != nil {
		return fmt.Errorf("read trusted MCP servers in %s: %w", t.File, err)
	}
	t.new, t.seen = false, seen
	return nil
}

// reread calls do after reading the current file.
func (t *Trust) reread(do func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.read(); err != nil {
		return err
	}
	return do()
}

// of returns what was reviewed of a server; never nil.
func (t *Trust) of(server string) *pins { return cmp.Or(t.seen[server], &pins{}) }

// Adopt marks all servers as reviewed if no server was ever reviewed, and returns
// their names. The first mcp.json was written by the user: only the user's own
// config folder is read, and no tool writes there. Later additions must be
// reviewed.
func (t *Trust) Adopt(servers []Entry) (names []string, err error) {
	err = t.reread(func() error {
		if !t.new || len(servers) == 0 {
			return nil
		}
		t.new = false
		for _, s := range servers {
			t.seen[s.Name] = &pins{Definition: definition(s), FirstUse: true}
			names = append(names, s.Name)
		}
		return t.save()
	})
	return names, err
}

// Typed marks an entry that the user typed as a command as reviewed, together
// with the first tools that the server lists.
func (t *Trust) Typed(s Entry) error { return t.pin(s, true) }

// Shown marks entries that the user was shown and agreed to as reviewed. What
// their servers offer must still be reviewed.
func (t *Trust) Shown(servers ...Entry) error {
	for _, s := range servers {
		if err := t.pin(s, false); err != nil {
			return err
		}
	}
	return nil
}

func (t *Trust) pin(s Entry, firstUse bool) error {
	return t.reread(func() error {
		t.seen[s.Name] = &pins{Definition: definition(s), FirstUse: firstUse}
		return t.save()
	})
}

// Entry compares a server's entry with what was reviewed.
func (t *Trust) Entry(s Entry) ([]Change, error) {
	if t == nil {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.read(); err != nil {
		return nil, err
	}
	known := t.of(s.Name)
	if text := definition(s); known.Definition != text {
		return []Change{{What: entryChange, Before: known.Definition, After: text}}, nil
	}
	return nil, nil
}

// Offer compares the instructions and tools of a server, as texts by name, with
// what was reviewed, and saves the list.
func (t *Trust) Offer(server, instructions string, texts, listed map[string]string) ([]Change, error) {
	if t == nil {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.read(); err != nil {
		return nil, err
	}
	known := t.of(server)
	first := known.Tools == nil && known.FirstUse
	if first {
		known.Tools, known.Instructions = maps.Clone(texts), instructions
	}
	maps.DeleteFunc(listed, func(tool, _ string) bool {
		return known.Instructions != instructions || known.Tools[tool] != texts[tool]
	})
	if first || t.seen[server] != nil && !maps.Equal(known.Listed, listed) {
		known.Listed = listed
		if err := t.save(); err != nil && first {
			return nil, err // without the saved list, the tools are only known after the next start
		}
	}
	var changes []Change
	if known.Instructions != instructions {
		changes = append(changes, Change{What: instructionsChange, Before: known.Instructions, After: instructions})
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if before, ok := known.Tools[name]; !ok || before != texts[name] {
			changes = append(changes, Change{What: toolChange + name, Before: before, After: texts[name]})
		}
	}
	return changes, nil
}

// LastListed returns the tools that a server listed last, by its own names,
// provided that its entry is as reviewed.
func (t *Trust) LastListed(s Entry) map[string]string {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if known := t.seen[s.Name]; known != nil && known.Definition == definition(s) {
		return known.Listed
	}
	return nil
}

// Saw reports whether the user has reviewed a tool with exactly this text.
func (t *Trust) Saw(server, tool, text string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.seen[server]
	return known != nil && known.Tools[tool] == text
}

// Accept marks changes as reviewed.
func (t *Trust) Accept(server string, changes []Change) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.read(); err != nil {
		return err
	}
	known := t.of(server)
	t.seen[server] = known
	t.new, known.FirstUse = false, false
	for _, c := range changes {
		switch c.What {
		case entryChange:
			known.Definition = c.After
		case instructionsChange:
			known.Instructions = c.After
		default:
			if known.Tools == nil {
				known.Tools = map[string]string{}
			}
			known.Tools[strings.TrimPrefix(c.What, toolChange)] = c.After
		}
	}
	return t.save()
}

// Known returns everything reviewed of a server, as changes from nothing.
func (t *Trust) Known(server string) []Change {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.read() != nil {
		return nil
	}
	known := t.seen[server]
	if known == nil {
		return nil
	}
	list := []Change{{What: entryChange, After: known.Definition}}
	if known.Instructions != "" {
		list = append(list, Change{What: instructionsChange, After: known.Instructions})
	}
	for _, name := range slices.Sorted(maps.Keys(known.Tools)) {
		list = append(list, Change{What: toolChange + name, After: known.Tools[name]})
	}
	return list
}

// Forget discards what was reviewed of a server that the user has removed from
// mcp.json, so that it must be reviewed if it is added again.
func (t *Trust) Forget(server string) error {
	return t.reread(func() error {
		delete(t.seen, server)
		return t.save()
	})
}

// save replaces the file atomically.
func (t *Trust) save() error {
	data, err := json.MarshalIndent(t.seen, "", "  ")
	if err == nil {
		err = files.Write(t.File, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("save trusted MCP servers: %w", err)
	}
	return nil
}

// definition returns the parts of an entry that decide what runs, who is
// connected to and who is asked. Values of variables and headers may be secret,
// so only fingerprints of them, as written, are included. Changing a label here
// makes every reviewed entry appear changed.
func definition(s Entry) string {
	var lines []string
	add := func(what, value string) {
		if value != "" {
			lines = append(lines, what+": "+value)
		}
	}
	add("type", string(s.Transport))
	if s.Command != "" {
		add("command", s.Address())
	}
	add("folder", s.Cwd)
	add("url", s.URL)
	add("variables", named(s.Env))
	add("headers", named(s.Headers))
	add("told of", strings.Join(s.Roots, ", "))
	if s.Level == agent.Auto {
		add("permission", "its tools run without asking")
	}
	if s.Reads {
		add("trust", "its tools that only read run unasked, and private text may go to it")
	}
	return strings.Join(lines, "\n")
}

// named lists names, with a fingerprint of the values.
func named(values map[string]string) string {
	if len(values) == 0 {
		return ""
	}
	sum := sha256.New()
	names := slices.Sorted(maps.Keys(values))
	for _, name := range names {
		fmt.Fprintf(sum, "%q=%q\n", name, values[name])
	}
	return fmt.Sprintf("%s (values %x)", strings.Join(names, ", "), sum.Sum(nil)[:4])
}
