package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"lifehub/internal/atomicfile"
	"lifehub/internal/userfile"
)

// Add writes a new server into mcp.json, making the file if need be. What
// else stands in it stays, in its order. The entry is checked as if it had
// been written by hand; a name that is taken is an error.
func Add(file string, s Entry) error {
	for _, text := range s.values() {
		if !utf8.ValidString(text) {
			return fmt.Errorf("add MCP server %s: %q is not UTF-8, which JSON cannot hold; use a path that is", s.Name, text)
		}
	}
	if err := change(file, func(doc *hujson.Value) ([]operation, error) {
		if doc.Find(place(s.Name)) != nil {
			return nil, fmt.Errorf("there is a server %q already; remove it first", s.Name)
		}
		return []operation{{"add", place(s.Name), s.entry()}}, nil
	}); err != nil {
		return fmt.Errorf("add MCP server %s: %w", s.Name, err)
	}
	return nil
}

// Remove takes a server out of mcp.json.
func Remove(file, name string) error {
	if err := change(file, func(doc *hujson.Value) ([]operation, error) {
		if doc.Find(place(name)) == nil {
			return nil, errors.New("there is none")
		}
		return []operation{{Do: "remove", Path: place(name)}}, nil
	}); err != nil {
		return fmt.Errorf("remove MCP server %s: %w", name, err)
	}
	return nil
}

// Enable switches a server on or off in mcp.json.
func Enable(file, name string, on bool) error {
	if err := change(file, func(doc *hujson.Value) (list []operation, err error) {
		if doc.Find(place(name)) == nil {
			return nil, errors.New("there is none")
		}
		for _, key := range []string{"/disabled", "/enabled"} {
			if doc.Find(place(name)+key) != nil {
				list = append(list, operation{Do: "remove", Path: place(name) + key})
			}
		}
		if !on {
			list = append(list, operation{"add", place(name) + "/enabled", false})
		}
		return list, nil
	}); err != nil {
		return fmt.Errorf("switch MCP server %s: %w", name, err)
	}
	return nil
}

// operation is one of a JSON Patch (RFC 6902).
type operation struct {
	Do    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// place is where a server stands in mcp.json, as a JSON pointer. No name reaches
// into the entry of another server.
func place(name string) string { return "/mcpServers/" + inPointer.Replace(name) }

var inPointer = strings.NewReplacer("~", "~0", "/", "~1")

// entry is a server as mcp.json has it.
func (s Entry) entry() any {
	written := struct {
		Entry
		Timeout string              `json:"timeout,omitempty"`
		Tools   map[string][]string `json:"tools,omitempty"`
	}{Entry: s, Tools: map[string][]string{}}
	if s.Transport == Stdio {
		written.Transport = ""
	}
	if s.Timeout != 0 {
		written.Timeout = s.Timeout.String()
	}
	for key, list := range map[string][]string{"allow": s.Allow, "deny": s.Deny} {
		if len(list) > 0 {
			written.Tools[key] = list
		}
	}
	return written
}

// change edits mcp.json and writes it again, if what comes out can be read.
// Comments in it stay.
func change(file string, edit func(doc *hujson.Value) ([]operation, error)) error {
	data, err := userfile.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = []byte("{}"), nil
	}
	if err != nil {
		return err
	}
	if _, err := parse(file, data); err != nil {
		return err
	}
	doc, err := hujson.Parse(userfile.Escape(bytes.TrimPrefix(data, []byte("\ufeff"))))
	if err != nil {
		return err
	}
	operations, err := edit(&doc)
	if err != nil {
		return err
	}
	if doc.Find("/mcpServers") == nil {
		operations = slices.Insert(operations, 0, operation{"add", "/mcpServers", struct{}{}})
	}
	patch, err := json.Marshal(operations)
	if err == nil {
		err = doc.Patch(patch)
	}
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if doc.Format(); !doc.IsStandard() {
		out.Write(doc.Pack())
	} else if err := json.Indent(&out, bytes.TrimSpace(doc.Pack()), "", "  "); err != nil {
		return err
	} else {
		out.WriteByte('\n')
	}
	if _, err := parse(file, out.Bytes()); err != nil {
		return err
	}
	return atomicfile.Write(file, []byte(userfile.Unescape(out.String())))
}
