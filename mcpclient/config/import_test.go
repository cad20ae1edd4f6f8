package config

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
)

func TestServersOfAnotherClientAreImported(t *testing.T) {
	dir := t.TempDir()
	file, source := filepath.Join(dir, "mcp.json"), filepath.Join(dir, "claude.json")
	write(t, source, `{"theme": "dark", "mcpServers": {
		"files": {"command": "npx", "args": ["-y", "fs"], "autoApprove": ["*"], "permission": "auto", "timeout": 60000},
		"taken": {"command": "other"},
		"web":   {"url": "https://x.org/mcp"},
		"bad name": {"command": "x"},
		"empty": {}
	}}`)
	write(t, file, `{"mcpServers": {"taken": {"command": "mine"}}}`)
	found, err := ReadImport(file, source)
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Servers) != 2 || found.Servers[0].Address() != "npx -y fs" ||
		found.Servers[1].URL != "https://x.org/mcp" {
		t.Errorf("got %+v", found.Servers)
	}
	if config, err := Read(file); err != nil || len(config.Servers) != 1 {
		t.Errorf("reading has changed mcp.json: %+v, %v", config, err)
	}
	if err := found.AddTo(file); err != nil {
		t.Fatal(err)
	}
	all := strings.Join(found.Skipped, "\n")
	for _, want := range []string{
		"taken: a server of this name", `files: unknown key "autoApprove"`,
		`files: unknown key "permission"`, `files: unknown key "timeout"`,
		`server "bad name": a name`, `server "empty"`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not said in\n%s", want, all)
		}
	}
	config, err := Read(file)
	if err != nil || len(config.Servers) != 3 || config.Servers[0].Command != "mine" ||
		config.Servers[1].Level != agent.Confirm {
		t.Errorf("got %+v, %v", config, err)
	}
}

// clients are files as written by other clients, with the expected result.
var clients = map[string]struct {
	file    string
	want    []Entry
	skipped []string // what each line of the report has
}{
	"Claude Desktop": {
		`{"mcpServers": {"files": {"command": "npx", "args": ["-y", "fs", "/home/ana"], "env": {"A": "b"}}}}`,
		[]Entry{{Command: "npx", Args: []string{"-y", "fs", "/home/ana"}, Env: map[string]string{"A": "b"}}},
		nil,
	},
	"Claude Code": {
		`{"numStartups": 7, "mcpServers": {"a": {"type": "http", "url": "https://x.org/mcp", "headers": {"Authorization": "Bearer ${TOKEN:-none}"}}},
		  "projects": {"/home/ana/p": {"allowedTools": [], "mcpServers": {"a": {"command": "other"}, "b": {"type": "stdio", "command": "b"}}}, "/q": {}}}`,
		[]Entry{{Transport: HTTP, URL: "https://x.org/mcp", Headers: map[string]string{"Authorization": "Bearer ${TOKEN:-none}"}}, {Command: "b"}},
		nil,
	},
	"VS Code": {
		`{ // as written by the editor
		  "inputs": [{"type": "promptString", "id": "brave-key", "password": true}],
		  "servers": {
		    "brave": {"type": "stdio", "command": "npx", "args": ["brave", "--url=https://a//b"], "env": {"BRAVE_API_KEY": "${input:brave-key}",}, }, /* the last */
		    "port": {"command": "${userHome}/bin/b", "env": {"PORT": 80}},
		    "home": {"command": "${userHome}/bin/b"},
		    "sse": {"type": "sse", "url": "https://x.org/sse"},
		  },
		}`,
		[]Entry{
			{
				Command: "npx", Args: []string{"brave", "--url=https://a//b"},
				Env: map[string]string{"BRAVE_API_KEY": "${INPUT_BRAVE_KEY}"},
			},
			{Command: "${HOME}/bin/b"},
			{Transport: SSE, URL: "https://x.org/sse"},
		},
		[]string{"INPUT_BRAVE_KEY", `"port": env`},
	},
	"keys of others": {
		`{"mcpServers": {"a": {"command": "a", "disabled": true, "autoApprove": ["x"]}, "b": {"httpUrl": ` +
			`"https://x.org/mcp"}, "c": {"command": "c", "env": {"K": "$KEY"}, "disabledTools": ["rm"]}}}`,
		[]Entry{{Command: "a", Disabled: true}, {Command: "c", Env: map[string]string{"K": "$KEY"}}},
		[]string{
			`a: unknown key "autoApprove"`, `b: unknown key "httpUrl"`, `server "b": command`,
			`c: unknown key "disabledTools"`,
		},
	},
}

func TestFilesOfOtherClientsAreRead(t *testing.T) {
	for name, c := range clients {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			from := filepath.Join(dir, "theirs.json")
			write(t, from, "\ufeff"+c.file)
			found, err := ReadImport(filepath.Join(dir, "mcp.json"), from)
			if err != nil {
				t.Fatal(err)
			}
			if err := found.AddTo(filepath.Join(dir, "mcp.json")); err != nil {
				t.Error(err)
			}
			got := found.Servers
			for i := range got {
				got[i].Name, got[i].Level = "", 0
				if got[i].Transport == Stdio {
					got[i].Transport = ""
				}
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got\n%+v\nwant\n%+v", got, c.want)
			}
			if !slices.EqualFunc(found.Skipped, c.skipped, strings.Contains) {
				t.Errorf("left out: %q\nwant %q", found.Skipped, c.skipped)
			}
		})
	}
}

func TestFileWithoutServersIsNotImported(t *testing.T) {
	for text, want := range map[string]string{
		`{"theme": "dark"}`:          "has no servers",
		`[mcp_servers.a]`:            "not valid JSON",
		`{"mcpServers": "none"}`:     "theirs:1: ",
		`{"mcpServers": {"a": "b"}}`: "theirs:1: ",
	} {
		from := filepath.Join(t.TempDir(), "theirs")
		write(t, from, text)
		if _, err := ReadImport(filepath.Join(t.TempDir(), "mcp.json"), from); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func FuzzImport(f *testing.F) {
	for _, c := range clients {
		f.Add([]byte(c.file))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		servers, err := theirServers(data)
		if err != nil {
			return
		}
		for name, entry := range servers {
			ours, _ := known(entry)
			_, _ = parseEntry(name, ours)
		}
	})
}
