package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"lifehub/agent"
)

func TestMCPJSONIsReadInEveryKnownForm(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(file, []byte("\ufeff"+`{
  "$schema": "x",
  "mcpServers": {
    "files":  {"command": "npx", "args": ["-y", "server-filesystem", "${HOME}/notes"], "cwd": "/tmp"},
    "words":  {"type": "local", "command": ["deno", "run", "x.ts"], "args": ["more"], "env": {"KEY": "${env:KEY}"}},
    "brave":  {"command": "brave", "tools": {"allow": ["brave_*"], "deny": ["*_local"]}, "permission": "auto", "trust": "read", "timeout": 90},
    "docs":   {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}, "timeout": "2m"},
    "old":    {"type": "sse", "url": "http://127.0.0.1:8080/sse", "enabled": false},
    "new":    {"type": "streamable-http", "url": "${BASE:-http://localhost}/mcp", "disabled": true},
    "a_b-C9": {"type": "remote", "url": "http://x.org"}
  }
}`), 0o600); err != nil {
		t.Fatal(err)
	}
	config, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	want := []Entry{
		{
			Name: "files", Transport: Stdio, Command: "npx", Args: []string{"-y", "server-filesystem", "${HOME}/notes"},
			Cwd: "/tmp",
		},
		{
			Name: "words", Transport: Stdio, Command: "deno", Args: []string{"run", "x.ts", "more"},
			Env: map[string]string{"KEY": "${env:KEY}"},
		},
		{
			Name: "brave", Transport: Stdio, Command: "brave", Allow: []string{"brave_*"}, Deny: []string{"*_local"},
			Reads: true, Timeout: 90 * time.Second,
		},
		{
			Name: "docs", Transport: HTTP, URL: "https://example.org/mcp",
			Headers: map[string]string{"Authorization": "Bearer ${TOKEN}"}, Timeout: 2 * time.Minute, Guessed: true,
		},
		{Name: "old", Transport: SSE, URL: "http://127.0.0.1:8080/sse", Disabled: true},
		{Name: "new", Transport: HTTP, URL: "${BASE:-http://localhost}/mcp", Disabled: true},
		{Name: "a_b-C9", Transport: HTTP, URL: "http://x.org", Guessed: true},
	}
	for i := range want {
		if want[i].Name != "brave" {
			want[i].Level = agent.Confirm
		}
		if i < len(config.Servers) && !reflect.DeepEqual(config.Servers[i], want[i]) {
			t.Errorf("got\n%+v\nwant\n%+v", config.Servers[i], want[i])
		}
	}
	if len(config.Servers) != len(want) {
		t.Errorf("got %d servers", len(config.Servers))
	}
}

func TestMistakesAreReportedWithTheirLine(t *testing.T) {
	files := map[string]string{
		"syntax":        "{\n\"mcpServers\": {\n  \"a\": {,}\n}}",
		"not an object": "[]",
		"empty":         "",
		"top key":       "{\n\"servers\": {}}",
		"key":           "{\"mcpServers\": {\"a\": {\"command\": \"x\",\n\"comand\": \"y\"}}}",
		"kind":          "{\"mcpServers\": {\"a\": {\"command\": \"x\",\n\"args\": \"y\"}}}",
		"null":          "{\"mcpServers\": {\"a\": {\n\"command\": null}}}",
		"twice":         "{\"mcpServers\": {\n\"a\": {\"command\": \"x\"},\n\"a\": {\"command\": \"y\"}}}",
		"nothing":       "{\"mcpServers\": {\n\"a\": {}}}",
		"both":          "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"url\": \"http://x\"}}}",
		"mismatch":      "{\"mcpServers\": {\"a\": {\"type\": \"sse\", \"command\": \"x\"}}}",
		"type":          "{\"mcpServers\": {\"a\": {\"type\": \"pigeon\", \"command\": \"x\"}}}",
		"name":          "{\"mcpServers\": {\"a__b\": {\"command\": \"x\"}}}",
		"long name":     "{\"mcpServers\": {\"" + strings.Repeat("x", 40) + "\": {\"command\": \"x\"}}}",
		"level kind":    "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"permission\": 1}}}",
		"level":         "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"permission\": \"yes\"}}}",
		"trust":         "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"trust\": \"all\"}}}",
		"timeout":       "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"timeout\": 60000}}}",
		"timeout word":  "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"timeout\": \"soon\"}}}",
		"glob":          "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"tools\": {\"deny\": [\"[\"]}}}}",
		"tools key":     "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"tools\": {\"denied\": []}}}}",
		"url":           "{\"mcpServers\": {\"a\": {\"url\": \"file:///etc\"}}}",
		"password":      "{\"mcpServers\": {\"a\": {\"url\": \"https://me:pw@x.org\"}}}",
		"header":        "{\"mcpServers\": {\"a\": {\"url\": \"https://x.org\", \"headers\": {\"A b\": \"\"}}}}",
		"reference":     "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"env\": {\"A\": \"${input:key}\"}}}}",
		"several":       "{\"mcpServers\": {\"a\": {\"command\": \"x\",\n\"b\": 1,\n\"c\": 2}}}",
	}
	var errs strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		_, err := parse("mcp.json", []byte(files[name]))
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		fmt.Fprintf(&errs, "%s: %v\n", name, err)
	}
	golden.RequireEqual(t, errs.String())
}

func TestMissingMCPJSONHasNoServers(t *testing.T) {
	config, err := Read(filepath.Join(t.TempDir(), "mcp.json"))
	if err != nil || len(config.Servers) != 0 {
		t.Errorf("got %+v, %v", config, err)
	}
}

func TestVariablesAreExpanded(t *testing.T) {
	lookup := func(name string) (string, bool) {
		v, ok := map[string]string{"A": "1", "EMPTY": "", "DOLLAR": "${A}"}[name]
		return v, ok
	}
	for text, want := range map[string]string{
		"${A}":                "1",
		"x${A}y${env:A}z":     "x1y1z",
		"${NO:-default}":      "default",
		"${EMPTY:-default}":   "default",
		"${A:-default}":       "1",
		"${NO:-}":             "",
		"$A $5 cost $ {A} {}": "$A $5 cost $ {A} {}",
		"${DOLLAR}":           "${A}", // expanded once, not recursively
		"${NO}":               "needs NO",
		"${EMPTY}":            "needs EMPTY",
	} {
		var missing []string
		got := expand(text, lookup, &missing)
		if len(missing) > 0 {
			got = "needs " + strings.Join(missing, ", ")
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestAllowAndDenySelectTools(t *testing.T) {
	for _, c := range []struct {
		allow, deny []string
		want        string
	}{
		{nil, nil, "read_file write_file"},
		{[]string{"read_*"}, nil, "read_file"},
		{nil, []string{"write_*"}, "read_file"},
		{[]string{"*"}, []string{"read_file"}, "write_file"},
		{[]string{}, nil, ""},
	} {
		s := Entry{Allow: c.allow, Deny: c.deny}
		var got []string
		for _, tool := range []string{"read_file", "write_file"} {
			if s.Offers(tool) {
				got = append(got, tool)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("allow %q, deny %q: got %q, want %q", c.allow, c.deny, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"mcpServers":{"a":{"command":["x"],"env":{"A":"${B:-c}"},"tools":{"allow":["*"]},"timeout":"1m"}}}`))
	f.Add([]byte(`{"mcpServers":{"a":{"url":"http://[::1]/","headers":{"A":"b"}}},"mcpServers":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		servers, err := parse("mcp.json", data)
		if err != nil && !strings.HasPrefix(err.Error(), "mcp.json:") {
			t.Errorf("no line in %v", err)
		}
		if err != nil && len(servers) > 0 && servers[0].Name == "" {
			t.Skip()
		}
		for _, s := range servers {
			_, _ = s.Resolved(func(string) (string, bool) { return "", false })
		}
	})
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
