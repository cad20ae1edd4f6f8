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

	"lifehub/internal/files"
)

// Add adds a server to mcp.json, creating the file if necessary and keeping its
// other content. The entry is validated like one written by hand. It is an error
// if the name is in use.
func Add(file string, s Entry) error {
	for _, text := range s.values() {
		if !utf8.ValidString(text) {
			return fmt.Errorf("add MCP server %s: %q is not UTF-8, which JSON cannot hold; use a path in UTF-8", s.Name,
				text)
		}
	}
	if err := change(file, func(doc *hujson.Value) ([]operation, error) {
		if doc.Find(place(s.Name)) != nil {
			return nil, fmt.Errorf("server %q already exists; remove it first", s.Name)
		}
		return []operation{{"add", place(s.Name), s.entry()}}, nil
	}); err != nil {
		return fmt.Errorf("add MCP server %s: %w", s.Name, err)
	}
	return nil
}

// Remove removes a server from mcp.json.
func Remove(file, name string) error {
	if err := change(file, func(doc *hujson.Value) ([]operation, error) {
		if doc.Find(place(name)) == nil {
			return nil, errors.New("no such server")
		}
		return []operation{{Do: "remove", Path: place(name)}}, nil
	}); err != nil {
		return fmt.Errorf("remove MCP server %s: %w", name, err)
	}
	return nil
}

// Enable enables or disables a server in mcp.json.
func Enable(file, name string, on bool) error {
	if err := change(file, func(doc *hujson.Value) (list []operation, err error) {
		if doc.Find(place(name)) == nil {
			return nil, errors.New("no such server")
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
		return fmt.Errorf("enable or disable MCP server %s: %w", name, err)
	}
	return nil
}

// operation is a JSON Patch operation (RFC 6902).
type operation struct {
	Do    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// place returns the JSON pointer to a server in mcp.json. The name is escaped, so
// that it cannot point into another server's entry.
func place(name string) string { return "/mcpServers/" + inPointer.Replace(name) }

var inPointer = strings.NewReplacer("~", "~0", "/", "~1")

// entry returns the server in the form of mcp.json.
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

// change edits mcp.json, preserving comments. It writes the result only if that
// is valid.
func change(file string, edit func(doc *hujson.Value) ([]operation, error)) error {
	data, err := files.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = []byte("{}"), nil
	}
	if err != nil {
		return err
	}
	if _, err := parse(file, data); err != nil {
		return err
	}
	doc, err := hujson.Parse(files.Escape(bytes.TrimPrefix(data, []byte("\ufeff"))))
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
	return files.Write(file, []byte(files.Unescape(out.String())))
}
