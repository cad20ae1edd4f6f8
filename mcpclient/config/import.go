package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"lifehub/internal/files"
)

// Import holds the servers that another client's file would add to mcp.json.
type Import struct {
	Servers []Entry
	Skipped []string // what was omitted, and why

	entries map[string]json.RawMessage
}

// entries are servers by name, as written by the client.
type entries map[string]map[string]json.RawMessage

// ReadImport reads a file of Claude or VS Code, without changing anything. It
// omits servers whose names exist in mcp.json, invalid entries and unknown keys.
func ReadImport(file, from string) (Import, error) {
	found := Import{entries: map[string]json.RawMessage{}}
	mine, err := Read(file)
	if err != nil {
		return found, err
	}
	data, err := files.Read(from)
	if err == nil {
		err = files.CheckJSON(from, data)
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
		return found, fmt.Errorf("import MCP servers: %s has no servers where Claude and VS Code save them", from)
	}
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		if slices.ContainsFunc(mine.Servers, func(s Entry) bool { return s.Name == name }) {
			found.Skipped = append(found.Skipped, name+": a server of this name already exists")
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

// AddTo adds the servers to mcp.json.
func (i Import) AddTo(file string) error {
	if err := change(file, func(doc *hujson.Value) (list []operation, err error) {
		for _, s := range i.Servers {
			if doc.Find(place(s.Name)) != nil {
				return nil, fmt.Errorf("server %q already exists", s.Name)
			}
			list = append(list, operation{"add", place(s.Name), i.entries[s.Name]})
		}
		return list, nil
	}); err != nil {
		return fmt.Errorf("import MCP servers: %w", err)
	}
	return nil
}

// theirPlaces are the JSON pointers to the servers in files of other clients.
var theirPlaces = []string{
	"/mcpServers", // Claude Desktop and Claude Code
	"/servers",    // VS Code
}

// theirServers finds the servers in a client's file. Its errors begin with a line
// number.
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
			return nil, errors.New("1: the servers are not an object of objects")
		}
		for name, entry := range servers {
			if all[name] == nil {
				all[name] = entry
			}
		}
	}
	return all, nil
}

// theirKeys are the keys of an entry that are imported. Permissions to run
// without asking are not imported, nor are timeouts, whose units may differ.
var theirKeys = []string{"type", "command", "args", "env", "cwd", "url", "headers", "enabled", "disabled"}

// known returns the part of an entry that is imported, and notes on the rest.
func known(theirs map[string]json.RawMessage) (entry json.RawMessage, notes []string) {
	ours := map[string]json.RawMessage{}
	for _, key := range slices.Sorted(maps.Keys(theirs)) {
		if !slices.Contains(theirKeys, key) {
			notes = append(notes, fmt.Sprintf("unknown key %q", key))
			continue
		}
		value := bytes.ReplaceAll(theirs[key], []byte("${userHome}"), []byte("${HOME}"))
		ours[key] = requested.ReplaceAllFunc(value, func(found []byte) []byte {
			name := "INPUT_" + notInName.ReplaceAllString(strings.ToUpper(string(requested.FindSubmatch(found)[1])),
				"_")
			notes = append(notes, "a value that the other client asks for; set the variable "+name)
			return []byte("${" + name + "}")
		})
	}
	entry, _ = json.Marshal(ours) // always encodable, as it was decoded from JSON
	return entry, notes
}

var (
	requested = regexp.MustCompile(`\$\{input:([A-Za-z0-9_. -]+)\}`) // VS Code: the value is requested from the user
	notInName = regexp.MustCompile(`[^A-Z0-9_]+`)
)

// parseEntry parses an entry as if it were part of mcp.json.
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
