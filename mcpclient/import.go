package mcpclient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"lifehub/pattern"
)

// Import is what another client's file would add to mcp.json.
type Import struct {
	Servers []Server
	Skipped []string // what is left out, and why

	entries map[string]json.RawMessage
}

// entries are servers by name, as a client writes them.
type entries map[string]map[string]json.RawMessage

// ReadImport reads another client's file, and changes nothing: that of Claude,
// Cursor, Windsurf, Gemini and others ("mcpServers"), VS Code ("servers", also
// below "mcp"), Zed ("context_servers") and opencode ("mcp"), with comments or
// without. Names that are taken in mcp.json, entries that cannot be read and
// keys that LifeHub does not know are left out.
func ReadImport(file, from string) (Import, error) {
	found := Import{entries: map[string]json.RawMessage{}}
	mine, err := ReadConfig(file, nil)
	if err != nil {
		return found, err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return found, fmt.Errorf("import MCP servers: %w", err)
	}
	theirs, err := theirServers(withoutComments(bytes.TrimPrefix(data, []byte("\ufeff"))))
	if err != nil {
		return found, fmt.Errorf("import MCP servers: %s: %w", from, err)
	}
	if len(theirs) == 0 {
		return found, fmt.Errorf("import MCP servers: %s has none", from)
	}
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		if slices.ContainsFunc(mine.Servers, func(s Server) bool { return s.Name == name }) {
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
	if err := change(file, func(servers *ordered) error {
		for _, s := range i.Servers {
			if servers.get(s.Name) != nil {
				return fmt.Errorf("there is a server %q already", s.Name)
			}
			servers.set(s.Name, i.entries[s.Name])
		}
		return nil
	}); err != nil {
		return fmt.Errorf("import MCP servers: %w", err)
	}
	return nil
}

// theirServers finds the servers in a client's file.
func theirServers(data []byte) (entries, error) {
	var file struct {
		MCPServers     json.RawMessage `json:"mcpServers"`
		Servers        json.RawMessage `json:"servers"`
		ContextServers json.RawMessage `json:"context_servers"`
		MCP            json.RawMessage `json:"mcp"`
		Projects       map[string]struct {
			MCPServers json.RawMessage `json:"mcpServers"`
		} `json:"projects"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("not valid JSON: %w", err)
	}
	var below struct {
		Servers json.RawMessage `json:"servers"`
	}
	if file.MCP != nil && json.Unmarshal(file.MCP, &below) == nil && below.Servers != nil {
		file.MCP = below.Servers
	}
	all := entries{}
	places := []json.RawMessage{file.MCPServers, file.Servers, file.ContextServers, file.MCP}
	for _, path := range slices.Sorted(maps.Keys(file.Projects)) {
		places = append(places, file.Projects[path].MCPServers)
	}
	for _, place := range places {
		servers, err := entriesOf(place)
		if err != nil {
			return nil, err
		}
		for name, entry := range servers {
			if all[name] == nil {
				all[name] = entry
			}
		}
	}
	return all, nil
}

// entriesOf reads servers by name, or a list of servers that tell their names.
func entriesOf(data json.RawMessage) (entries, error) {
	if data == nil {
		return nil, nil
	}
	var byName entries
	if json.Unmarshal(data, &byName) == nil {
		return byName, nil
	}
	var list []map[string]json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, errors.New("its servers are neither an object nor a list of objects")
	}
	byName = entries{}
	for _, entry := range list {
		var name string
		_ = json.Unmarshal(entry["name"], &name) // one without is refused for its name
		delete(entry, "name")
		byName[name] = entry
	}
	return byName, nil
}

// theirNames are the names that other clients have for our keys.
var theirNames = map[string]string{
	"httpUrl": "url", "serverUrl": "url", "environment": "env", "transport": "type", "transportType": "type", "cmd": "command",
	"excludeTools": "deny", "disabledTools": "deny", "includeTools": "allow", "enabledTools": "allow",
}

// known keeps the keys of an entry that LifeHub reads, under its own names.
// What another client lets run unasked is not taken over.
func known(theirs map[string]json.RawMessage) (entry json.RawMessage, notes []string) {
	theirs = flat(theirs)
	ours, tools := map[string]any{}, map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(theirs)) {
		name := key
		if ours := theirNames[key]; ours != "" {
			name = ours
		}
		value, asked := ourReferences(theirs[key], name == "env" || name == "headers")
		switch {
		case name == "allow" || name == "deny":
			tools[name] = value
		case name == "permission" || name == "timeout" || !slices.Contains(serverKeys, name):
			notes = append(notes, fmt.Sprintf("%q is not known here", key)) // a timeout may be in other units
			continue
		default:
			ours[name] = value
		}
		for _, variable := range asked {
			notes = append(notes, fmt.Sprintf("the question for a value; put it into the variable %s", variable))
		}
	}
	if len(tools) > 0 {
		ours["tools"] = tools
	}
	entry, _ = json.Marshal(ours) // it came from JSON
	return entry, notes
}

// flat takes out of a command what is an object of it, as Zed has written it.
func flat(theirs map[string]json.RawMessage) map[string]json.RawMessage {
	var command map[string]json.RawMessage
	if json.Unmarshal(theirs["command"], &command) != nil || command == nil {
		return theirs
	}
	theirs = maps.Clone(theirs)
	delete(theirs, "command")
	for key, value := range command {
		if key == "path" {
			key = "command"
		}
		theirs[key] = value
	}
	return theirs
}

var (
	inputReference = pattern.Lazy(`\$\{input:([A-Za-z0-9_. -]+)\}`)           // VS Code: asked for
	braceReference = pattern.Lazy(`(^|[^$])\{env:([A-Za-z_][A-Za-z0-9_]*)\}`) // opencode
	wholeReference = pattern.Lazy(`^\$([A-Za-z_][A-Za-z0-9_]*)$`)             // Gemini
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
			v = strings.ReplaceAll(v, "${userHome}", "${HOME}")
			v = braceReference.ReplaceAllString(v, "$1$${$2}")
			if texts {
				v = wholeReference.ReplaceAllString(v, "$${$1}")
			}
			return v
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

// withoutComments makes plain JSON of what editors write: without comments,
// and without a comma after the last of a list. Lines stay where they are.
func withoutComments(data []byte) []byte {
	out := make([]byte, 0, len(data))
	comma := -1 // where a comma stands in out after which nothing has come; -1: nowhere
	for i := 0; i < len(data); i++ {
		c := data[i]
		switch {
		case c == '"':
			end := endOfString(data, i)
			out, comma = append(out, data[i:end]...), -1
			i = end - 1
			continue
		case c == '/' && i+1 < len(data) && (data[i+1] == '/' || data[i+1] == '*'):
			end, mark := len(data), "\n"
			if data[i+1] == '*' {
				mark = "*/"
			}
			if at := bytes.Index(data[i+2:], []byte(mark)); at >= 0 {
				end = i + 2 + at + len(mark)
			}
			for _, b := range data[i:end] {
				if b == '\n' {
					out = append(out, b)
				}
			}
			i = end - 1
			continue
		case (c == '}' || c == ']') && comma >= 0:
			out[comma] = ' '
		}
		switch {
		case c == ',':
			comma = len(out)
		case !bytes.ContainsRune([]byte(" \t\r\n"), rune(c)):
			comma = -1
		}
		out = append(out, c)
	}
	return out
}

// endOfString is the place after a string that begins at from.
func endOfString(data []byte, from int) int {
	for i := from + 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

// parseEntry reads an entry as if it stood in mcp.json.
func parseEntry(name string, entry json.RawMessage) ([]Server, error) {
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
