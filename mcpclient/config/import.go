package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"lifehub/internal/pattern"
	"lifehub/internal/userfile"
)

// Import is what another client's file would add to mcp.json.
type Import struct {
	Servers []Entry
	Skipped []string // what is left out, and why

	entries map[string]json.RawMessage
}

// entries are servers by name, as a client writes them.
type entries map[string]map[string]json.RawMessage

// ReadImport reads the file of Claude Desktop, Claude Code, Cursor or VS Code,
// and changes nothing. Names that are taken in mcp.json, entries that cannot be
// read and unknown keys are left out.
func ReadImport(file, from string) (Import, error) {
	found := Import{entries: map[string]json.RawMessage{}}
	mine, err := Read(file, nil)
	if err != nil {
		return found, err
	}
	data, err := userfile.Read(from)
	if err == nil {
		err = userfile.CheckJSON(from, data)
	}
	var theirs entries
	if err == nil {
		if theirs, err = theirServers(data); err != nil {
			err = fmt.Errorf("%s:%w", from, err)
		}
	}
	if err != nil {
		return found, fmt.Errorf("import MCP servers: %w", err)
	}
	if len(theirs) == 0 {
		return found, fmt.Errorf("import MCP servers: %s has none where Claude, Cursor and VS Code keep them", from)
	}
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		if slices.ContainsFunc(mine.Servers, func(s Entry) bool { return s.Name == name }) {
			found.Skipped = append(found.Skipped, name+": there is one of that name already")
			continue
		}
		entry, notes := known(theirs[name])
		for _, note := range notes {
			found.Skipped = append(found.Skipped, name+": "+note)
		}
		servers, err := parseEntry(name, entry)
		if err != nil {
			found.Skipped = append(found.Skipped, err.Error())
			continue
		}
		found.Servers = append(found.Servers, servers...)
		found.entries[name] = entry
	}
	return found, nil
}

// AddTo writes the servers into mcp.json.
func (i Import) AddTo(file string) error {
	if err := change(file, func(doc *hujson.Value) (list []operation, err error) {
		for _, s := range i.Servers {
			if doc.Find(place(s.Name)) != nil {
				return nil, fmt.Errorf("there is a server %q already", s.Name)
			}
			list = append(list, operation{"add", place(s.Name), i.entries[s.Name]})
		}
		return list, nil
	}); err != nil {
		return fmt.Errorf("import MCP servers: %w", err)
	}
	return nil
}

// theirPlaces are where clients keep their servers, as JSON pointers.
var theirPlaces = []string{
	"/mcpServers",  // Claude Desktop, Claude Code and Cursor
	"/servers",     // mcp.json of VS Code
	"/mcp/servers", // settings.json of VS Code
}

// theirServers finds the servers in a client's file. The error begins with a line.
func theirServers(data []byte) (entries, error) {
	doc, err := hujson.Parse(data)
	if err != nil {
		line, why := faultOf(err)
		return nil, fmt.Errorf("%d: not valid JSON: %w", line, why)
	}
	doc.Standardize()
	var found []*hujson.Value
	for _, place := range theirPlaces {
		found = append(found, doc.Find(place))
	}
	if projects := doc.Find("/projects"); projects != nil { // Claude Code
		for _, project := range new(problems).members(*projects) {
			found = append(found, project.value.Find("/mcpServers"))
		}
	}
	all := entries{}
	for _, place := range found {
		var servers entries
		if place != nil && json.Unmarshal(place.Pack(), &servers) != nil {
			return nil, errors.New("1: its servers are not an object of objects")
		}
		for name, entry := range servers {
			if all[name] == nil {
				all[name] = entry
			}
		}
	}
	return all, nil
}

// theirKeys are the keys of an entry that are imported. What runs without asking
// is not, nor a timeout, which may be in other units.
var theirKeys = []string{"type", "command", "args", "env", "cwd", "url", "headers", "enabled", "disabled"}

// known returns what is imported of an entry, and notes on the rest.
func known(theirs map[string]json.RawMessage) (entry json.RawMessage, notes []string) {
	ours := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(theirs)) {
		if !slices.Contains(theirKeys, key) {
			notes = append(notes, fmt.Sprintf("%q is not known here", key))
			continue
		}
		value, asked := ourReferences(theirs[key], key == "env" || key == "headers")
		ours[key] = value
		for _, variable := range asked {
			notes = append(notes, fmt.Sprintf("the question for a value; put it into the variable %s", variable))
		}
	}
	entry, _ = json.Marshal(ours) // it came from JSON
	return entry, notes
}

var (
	inputReference = pattern.Lazy(`\$\{input:([A-Za-z0-9_. -]+)\}`) // VS Code: asked for
	notInName      = pattern.Lazy(`[^A-Z0-9_]+`)
)

// ourReferences writes a value as mcp.json has it: references to variables as
// ${NAME}, and, where texts are due, other single values as texts. asked names
// the variables that stand for what the other client asks its user for.
func ourReferences(raw json.RawMessage, texts bool) (value any, asked []string) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return raw, nil
	}
	var walk func(value any) any
	walk = func(value any) any {
		switch v := value.(type) {
		case string:
			v = inputReference.ReplaceAllStringFunc(v, func(found string) string {
				name := strings.Trim(notInName.ReplaceAllString(strings.ToUpper(inputReference.FindStringSubmatch(found)[1]), "_"), "_")
				if name == "" || name[0] >= '0' && name[0] <= '9' {
					name = "INPUT_" + name
				}
				asked = append(asked, name)
				return "${" + name + "}"
			})
			return strings.ReplaceAll(v, "${userHome}", "${HOME}")
		case json.Number, bool:
			if texts {
				return fmt.Sprint(v)
			}
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
		case map[string]any:
			for key := range v {
				v[key] = walk(v[key])
			}
		}
		return value
	}
	value = walk(value)
	return value, slices.Compact(asked)
}

// parseEntry reads an entry as if it stood in mcp.json.
func parseEntry(name string, entry json.RawMessage) ([]Entry, error) {
	quoted, err := json.Marshal(name)
	if err != nil {
		return nil, err
	}
	servers, err := parse("mcp.json", fmt.Appendf(nil, `{"mcpServers":{%s:%s}}`, quoted, entry))
	if err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), "mcp.json:1: ", ""))
	}
	return servers, nil
}
