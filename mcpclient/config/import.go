package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
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

// ReadImport reads another client's file, and changes nothing: that of Claude,
// Cursor, Windsurf, Gemini and others ("mcpServers"), VS Code ("servers", also
// below "mcp"), Zed ("context_servers"), opencode ("mcp"), with comments or
// without, and Codex ("mcp_servers", in TOML). Names that are taken in mcp.json,
// entries that cannot be read and keys that LifeHub does not know are left out.
func ReadImport(file, from string) (Import, error) {
	found := Import{entries: map[string]json.RawMessage{}}
	mine, err := Read(file, nil)
	if err != nil {
		return found, err
	}
	data, err := userfile.Read(from)
	if err != nil {
		return found, fmt.Errorf("import MCP servers: %w", err)
	}
	if strings.EqualFold(filepath.Ext(from), ".toml") {
		data, err = fromTOML(from, data)
	}
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
		return found, fmt.Errorf("import MCP servers: %s has none", from)
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

// fromTOML writes TOML as JSON.
func fromTOML(from string, data []byte) ([]byte, error) {
	if err := userfile.CheckTOML(from, data); err != nil {
		return nil, err
	}
	var file map[string]any
	if err := toml.Unmarshal(data, &file); err != nil {
		line := 1
		var fault *toml.DecodeError
		if errors.As(err, &fault) {
			line, _ = fault.Position()
		}
		return nil, fmt.Errorf("%s:%d: not valid TOML: %w", from, line, err)
	}
	return json.Marshal(file)
}

// theirPlaces are where clients keep their servers, as JSON pointers. What
// Gemini has at /mcp are settings about those at /mcpServers.
var theirPlaces = []string{"/mcpServers", "/servers", "/context_servers", "/mcp/servers", "/mcp_servers"}

// theirServers finds the servers in a client's file. The error begins with a line.
func theirServers(data []byte) (entries, error) {
	doc, err := hujson.Parse(data)
	if err != nil {
		line, why := faultOf(err)
		return nil, fmt.Errorf("%d: not valid JSON: %w", line, why)
	}
	doc.Standardize()
	places := slices.Clone(theirPlaces)
	if doc.Find("/mcp/servers") == nil && doc.Find("/mcpServers") == nil {
		places = append(places, "/mcp")
	}
	var found []*hujson.Value
	for _, place := range places {
		found = append(found, doc.Find(place))
	}
	if projects := doc.Find("/projects"); projects != nil {
		for _, project := range new(problems).members(*projects) {
			found = append(found, project.value.Find("/mcpServers"))
		}
	}
	all := entries{}
	for _, place := range found {
		var servers entries
		if place != nil && json.Unmarshal(place.Pack(), &servers) != nil {
			return nil, errors.New("1: its servers are no object of objects")
		}
		for name, entry := range servers {
			if all[name] == nil {
				all[name] = entry
			}
		}
	}
	all.deny(doc.Find("/tools"), doc.Find("/permission"))
	return all, nil
}

// deny takes tools out that opencode switches off for all servers at once, by
// patterns over server_tool.
func (e entries) deny(settings ...*hujson.Value) {
	var off []string
	for _, setting := range settings {
		var levels map[string]any
		if setting != nil {
			_ = json.Unmarshal(setting.Pack(), &levels) // one that is none is of another client
		}
		for glob, level := range levels {
			if level == false || level == "deny" {
				off = append(off, glob)
			}
		}
	}
	slices.Sort(off)
	for name, entry := range e {
		var denied []string
		for _, glob := range off {
			if tools, ok := strings.CutPrefix(glob, name+"_"); ok {
				denied = append(denied, tools)
			} else if all, _ := path.Match(glob, name+"_"); all {
				denied = append(denied, "*")
			}
		}
		if denied != nil && entry != nil && entry["excludeTools"] == nil {
			entry["excludeTools"], _ = json.Marshal(denied) // texts can be written
		}
	}
}

// theirNames are the names that other clients have for our keys, in small
// letters and without a sign between the words: some write excludeTools, others
// exclude_tools.
var theirNames = map[string]string{
	"httpurl": "url", "serverurl": "url", "environment": "env", "transport": "type", "transporttype": "type", "cmd": "command", "httpheaders": "headers",
	"excludetools": "deny", "excludedtools": "deny", "disabledtools": "deny", "blockedtools": "deny",
	"includetools": "allow", "includedtools": "allow", "enabledtools": "allow", "allowedtools": "allow", "availabletools": "allow",
}

var betweenWords = strings.NewReplacer("_", "", "-", "")

// known keeps the keys of an entry that LifeHub reads, under its own names.
// What another client lets run unasked is not taken over.
func known(theirs map[string]json.RawMessage) (entry json.RawMessage, notes []string) {
	ours, tools := map[string]any{}, filter{}
	for _, key := range slices.Sorted(maps.Keys(theirs)) {
		name := key
		if ours := theirNames[betweenWords.Replace(strings.ToLower(key))]; ours != "" {
			name = ours
		}
		value, asked := ourReferences(theirs[key], name == "env" || name == "headers")
		switch {
		case name == "allow" || name == "deny":
			tools.add(name, value)
		case name == "tools" && tools.take(value):
		case name == "permission" || name == "timeout" || name == "tools" || !slices.Contains(serverKeys, name):
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

// filter is which tools of a server are offered: lists under "allow" and "deny",
// or what stands there instead of a list of texts, for which the entry is refused.
type filter map[string]any

// add narrows the filter: a tool must be in all lists that allow, and in none
// that denies.
func (f filter) add(name string, value any) {
	raw, _ := json.Marshal(value) // it came from JSON
	list := []string{}
	before, isList := f[name].([]string)
	switch {
	case f[name] != nil && !isList: // refused already
	case value == nil || json.Unmarshal(raw, &list) != nil:
		f[name] = value
	case !isList:
		f[name] = list
	case name == "allow":
		f[name] = slices.DeleteFunc(before, func(tool string) bool { return !slices.Contains(list, tool) })
	default:
		f[name] = append(before, list...)
	}
}

// take reads "tools" where it is a list of those that there are, as Copilot has
// it, or an object of lists. It reports whether it is one of these.
func (f filter) take(value any) bool {
	if list, ok := value.([]any); ok {
		f.add("allow", list)
		return true
	}
	object, _ := value.(map[string]any)
	names := map[string]string{"allow": "allow", "include": "allow", "deny": "deny", "exclude": "deny"}
	for key := range object {
		if names[key] == "" {
			return false
		}
	}
	for key, list := range object {
		f.add(names[key], list)
	}
	return len(object) > 0
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
