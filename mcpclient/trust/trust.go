// Package trust remembers what the user has seen of the MCP servers. Start at
// [Trust].
package trust

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
	"lifehub/internal/atomicfile"
	"lifehub/mcpclient/config"
)

// Trust remembers what the user has seen of each server: its entry in mcp.json,
// its program, and its tools. What is new or has changed is not used until it
// was seen; Adopt and Typed say what counts as seen from the beginning. It is
// safe for concurrent use.
type Trust struct {
	File string
	mu   sync.Mutex
	new  bool             // no server was ever seen
	seen map[string]*pins // by server
}

// pins are the texts of what was seen of a server.
type pins struct {
	Definition   string            `json:"definition"`
	Program      string            `json:"program,omitempty"` // "": never started
	Instructions string            `json:"instructions,omitempty"`
	Tools        map[string]string `json:"tools,omitempty"` // by the server's own names; nil: never listed
	// Listed are those of Tools that the server listed last, as it did: they are
	// available before it has started again.
	Listed map[string]string `json:"listed,omitempty"`
	// FirstUse says that the user wrote the entry: the tools that it lists
	// first are taken as they are.
	FirstUse bool `json:"first_use,omitempty"`
}

// Change is something of a server that is not as the user has seen it.
type Change struct {
	What   string `json:"what"`             // one of the words below, or toolChange and the tool's name as the server calls it
	Before string `json:"before,omitempty"` // "": it was not there
	After  string `json:"after"`
}

// What of a server can change.
const (
	entryChange        = "entry"
	programChange      = "program"
	instructionsChange = "instructions"
	toolChange         = "tool "
)

// Concerns reports whether a tool is as the user has seen it only without the
// change.
func (c Change) Concerns(tool string) bool {
	return c.What == instructionsChange || c.What == toolChange+tool
}

// Open reads the file; one that is not there has seen nothing.
func Open(file string) (*Trust, error) {
	t := &Trust{File: file, seen: map[string]*pins{}}
	return t, t.read()
}

// read reads the file again: another LifeHub may have written it meanwhile.
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

// reread does something with the file as it is now.
func (t *Trust) reread(do func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.read(); err != nil {
		return err
	}
	return do()
}

// of is what was seen of a server, nothing where there is none.
func (t *Trust) of(server string) *pins { return cmp.Or(t.seen[server], &pins{}) }

// Adopt takes the servers of the first mcp.json that LifeHub ever reads as
// they are, for the user wrote it: only the user's own config folder is read,
// and no tool writes there. It returns their names. Once any server was seen
// it does nothing: what turns up later must be seen.
func (t *Trust) Adopt(servers []config.Entry) (names []string, err error) {
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

// Typed takes an entry that the user has just typed as a command of their
// own, and later the first tools of that server.
func (t *Trust) Typed(s config.Entry) error { return t.pin(s, true) }

// Shown takes entries that the user was shown and agreed to. What their
// servers offer must still be seen.
func (t *Trust) Shown(servers ...config.Entry) error {
	for _, s := range servers {
		if err := t.pin(s, false); err != nil {
			return err
		}
	}
	return nil
}

func (t *Trust) pin(s config.Entry, firstUse bool) error {
	return t.reread(func() error {
		t.seen[s.Name] = &pins{Definition: definition(s), FirstUse: firstUse}
		return t.save()
	})
}

// Entry compares a server's entry and its program with what was seen; of an
// entry that was seen, the program that it runs first is taken. A program that
// is "" was not found; the start will say so.
func (t *Trust) Entry(s config.Entry, program string) ([]Change, error) {
	if t == nil {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.read(); err != nil {
		return nil, err
	}
	known := t.of(s.Name)
	var changes []Change
	if text := definition(s); known.Definition != text {
		changes = append(changes, Change{What: entryChange, Before: known.Definition, After: text})
	}
	switch {
	case program == known.Program || program == "":
	case known.Program == "" && len(changes) == 0:
		known.Program = program
		return nil, t.save()
	default:
		changes = append(changes, Change{What: programChange, Before: known.Program, After: program})
	}
	return changes, nil
}

// Offer compares what a server says of itself and its tools, texts by name,
// with what was seen, and saves what it lists.
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
			return nil, err // else its tools are only known later, the next time
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

// LastListed are the tools that a server listed last, by its own names, while
// its entry is as the user has seen it.
func (t *Trust) LastListed(s config.Entry) map[string]string {
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

// Saw reports whether the user has seen a tool with exactly this text.
func (t *Trust) Saw(server, tool, text string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.seen[server]
	return known != nil && known.Tools[tool] == text
}

// Accept takes changes as seen.
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
		case programChange:
			known.Program = c.After
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

// Known is what the user has seen of a server, as changes to nothing.
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
	if known.Program != "" {
		list = append(list, Change{What: programChange, After: known.Program})
	}
	if known.Instructions != "" {
		list = append(list, Change{What: instructionsChange, After: known.Instructions})
	}
	for _, name := range slices.Sorted(maps.Keys(known.Tools)) {
		list = append(list, Change{What: toolChange + name, After: known.Tools[name]})
	}
	return list
}

// Forget forgets a server that the user has just taken out of mcp.json: when
// it comes back it must be seen.
func (t *Trust) Forget(server string) error {
	return t.reread(func() error {
		delete(t.seen, server)
		return t.save()
	})
}

// save replaces the file as a whole.
func (t *Trust) save() error {
	data, err := json.MarshalIndent(t.seen, "", "  ")
	if err == nil {
		err = atomicfile.Write(t.File, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("save trusted MCP servers: %w", err)
	}
	return nil
}

// definition is what of an entry decides what runs, who is spoken to and who
// is asked. The values of variables and headers may be secret: they are only
// fingerprinted, as they are written.
func definition(s config.Entry) string {
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
	return strings.Join(lines, "\n")
}

// named lists the names of values, with a fingerprint of the values.
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
