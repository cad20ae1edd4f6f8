package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"lifehub/internal/atomicfile"
)

// Add writes a new server into mcp.json, making the file if need be. What
// else stands in it stays, in its order. The entry is checked as if it had
// been written by hand; a name that is taken is an error.
func Add(file string, s Entry) error {
	if err := change(file, func(servers *ordered) error {
		if servers.get(s.Name) != nil {
			return fmt.Errorf("there is a server %q already; remove it first", s.Name)
		}
		entry, err := json.Marshal(s.entry())
		servers.set(s.Name, entry)
		return err
	}); err != nil {
		return fmt.Errorf("add MCP server %s: %w", s.Name, err)
	}
	return nil
}

// Remove takes a server out of mcp.json.
func Remove(file, name string) error {
	if err := change(file, func(servers *ordered) error {
		if servers.get(name) == nil {
			return errors.New("there is none")
		}
		servers.remove(name)
		return nil
	}); err != nil {
		return fmt.Errorf("remove MCP server %s: %w", name, err)
	}
	return nil
}

// Enable switches a server on or off in mcp.json.
func Enable(file, name string, on bool) error {
	if err := change(file, func(servers *ordered) error {
		if servers.get(name) == nil {
			return errors.New("there is none")
		}
		var entry ordered
		entry.read(servers.get(name))
		entry.remove("disabled")
		entry.remove("enabled")
		if !on {
			entry.set("enabled", json.RawMessage("false"))
		}
		servers.set(name, entry.write())
		return nil
	}); err != nil {
		return fmt.Errorf("switch MCP server %s: %w", name, err)
	}
	return nil
}

// entry is a server as mcp.json has it.
func (s Entry) entry() any {
	type tools struct {
		Allow []string `json:"allow,omitempty"`
		Deny  []string `json:"deny,omitempty"`
	}
	entry := struct {
		Type    Transport         `json:"type,omitempty"`
		Command string            `json:"command,omitempty"`
		Args    []string          `json:"args,omitempty"`
		Env     map[string]string `json:"env,omitempty"`
		Cwd     string            `json:"cwd,omitempty"`
		URL     string            `json:"url,omitempty"`
		Headers map[string]string `json:"headers,omitempty"`
		Timeout string            `json:"timeout,omitempty"`
		Tools   *tools            `json:"tools,omitempty"`
		Roots   []string          `json:"roots,omitempty"`
	}{
		Type: s.Transport, Command: s.Command, Args: s.Args, Env: s.Env, Cwd: s.Cwd,
		URL: s.URL, Headers: s.Headers, Roots: s.Roots,
	}
	if s.Transport == Stdio {
		entry.Type = ""
	}
	if s.Timeout != 0 {
		entry.Timeout = s.Timeout.String()
	}
	if s.Allow != nil || s.Deny != nil {
		entry.Tools = &tools{s.Allow, s.Deny}
	}
	return entry
}

// change edits the servers of mcp.json and writes it again, if what comes out
// can be read.
func change(file string, edit func(*ordered) error) error {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = []byte(`{"mcpServers":{}}`), nil
	}
	if err != nil {
		return err
	}
	if _, err := parse(file, data); err != nil {
		return err
	}
	var doc, servers ordered
	doc.read(data)
	servers.read(doc.get("mcpServers"))
	if err := edit(&servers); err != nil {
		return err
	}
	doc.set("mcpServers", servers.write())
	var out bytes.Buffer
	if err := json.Indent(&out, doc.write(), "", "  "); err != nil {
		return err
	}
	out.WriteByte('\n')
	if _, err := parse(file, out.Bytes()); err != nil {
		return err
	}
	return atomicfile.Write(file, out.Bytes())
}

// ordered is a JSON object that keeps the order of its keys.
type ordered struct {
	names  []string
	values map[string]json.RawMessage
}

// read takes an object that was parsed before.
func (o *ordered) read(data []byte) {
	o.values = map[string]json.RawMessage{}
	for _, m := range readDocument(bytes.TrimPrefix(data, []byte("\ufeff")), &problems{}).keys() {
		o.set(m.name, m.value.raw)
	}
}

func (o *ordered) get(name string) json.RawMessage { return o.values[name] }

func (o *ordered) set(name string, value json.RawMessage) {
	if _, ok := o.values[name]; !ok {
		o.names = append(o.names, name)
	}
	o.values[name] = value
}

func (o *ordered) remove(name string) {
	delete(o.values, name)
	o.names = slices.DeleteFunc(o.names, func(n string) bool { return n == name })
}

func (o *ordered) write() []byte {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, name := range o.names {
		if i > 0 {
			out.WriteByte(',')
		}
		quoted, _ := json.Marshal(name) // a string can be written
		out.Write(quoted)
		out.WriteByte(':')
		out.Write(o.values[name])
	}
	out.WriteByte('}')
	return out.Bytes()
}
