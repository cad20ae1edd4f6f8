package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"lifehub/agent"
)

func TestAnotherClientsServersAreImported(t *testing.T) {
	dir := t.TempDir()
	file, theirs := filepath.Join(dir, "mcp.json"), filepath.Join(dir, "claude.json")
	write(t, theirs, `{"theme": "dark", "mcpServers": {
		"files": {"command": "npx", "args": ["-y", "fs"], "autoApprove": ["*"], "permission": "auto", "timeout": 60000},
		"taken": {"command": "other"},
		"web":   {"httpUrl": "https://x.org/mcp", "environment": {}},
		"bad name": {"command": "x"},
		"empty": {}
	}}`)
	write(t, file, `{"mcpServers": {"taken": {"command": "mine"}}}`)
	found, err := ReadImport(file, theirs)
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Servers) != 2 || found.Servers[0].Address() != "npx -y fs" || found.Servers[1].URL != "https://x.org/mcp" {
		t.Errorf("got %+v", found.Servers)
	}
	if config, err := Read(file, os.LookupEnv); err != nil || len(config.Servers) != 1 {
		t.Errorf("reading has changed mcp.json: %+v, %v", config, err)
	}
	if err := found.AddTo(file); err != nil {
		t.Fatal(err)
	}
	all := strings.Join(found.Skipped, "\n")
	for _, want := range []string{"taken: there is one", `files: "autoApprove"`, `files: "permission"`, `files: "timeout"`, `server "bad name": a name`, `server "empty": it needs a command`} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not said in\n%s", want, all)
		}
	}
	config, err := Read(file, os.LookupEnv)
	if err != nil || len(config.Servers) != 3 || config.Servers[0].Command != "mine" || config.Servers[1].Level != agent.Confirm {
		t.Errorf("got %+v, %v", config, err)
	}
}

// clients are files as other clients write them, and what each comes to.
var clients = map[string]struct {
	file    string
	want    []Entry
	skipped string
}{
	"Claude Desktop": {
		`{"mcpServers": {"files": {"command": "npx", "args": ["-y", "fs", "/home/ana"], "env": {"A": "b"}}}}`,
		[]Entry{{Command: "npx", Args: []string{"-y", "fs", "/home/ana"}, Env: map[string]string{"A": "b"}}},
		"",
	},
	"Claude Code": {
		`{"numStartups": 7, "mcpServers": {"a": {"type": "http", "url": "https://x.org/mcp", "headers": {"Authorization": "Bearer ${TOKEN:-none}"}}},
		  "projects": {"/home/ana/p": {"allowedTools": [], "mcpServers": {"a": {"command": "other"}, "b": {"type": "stdio", "command": "b"}}}, "/q": {}}}`,
		[]Entry{{Transport: HTTP, URL: "https://x.org/mcp", Headers: map[string]string{"Authorization": "Bearer ${TOKEN:-none}"}}, {Command: "b"}},
		"",
	},
	"Cursor": {
		`{"mcpServers": {"a": {"url": "http://localhost:3000/sse", "headers": {"K": "${env:K}"}}, "b": {"command": "${userHome}/bin/b", "envFile": ".env"}}}`,
		[]Entry{{Transport: HTTP, Guessed: true, URL: "http://localhost:3000/sse", Headers: map[string]string{"K": "${env:K}"}}, {Command: "${HOME}/bin/b"}},
		`b: "envFile" is not known here`,
	},
	"VS Code": {
		`{ // as the editor writes it
		  "inputs": [{"type": "promptString", "id": "brave-key", "password": true}],
		  "servers": {
		    "brave": {"type": "stdio", "command": "npx", "args": ["brave", "--url=https://a//b"], "env": {"BRAVE_API_KEY": "${input:brave-key}", "PORT": 80, "ON": true,}, }, /* the last */
		    "sse": {"type": "sse", "url": "https://x.org/sse"},
		  },
		}`,
		[]Entry{
			{Command: "npx", Args: []string{"brave", "--url=https://a//b"}, Env: map[string]string{"BRAVE_API_KEY": "${BRAVE_KEY}", "PORT": "80", "ON": "true"}},
			{Transport: SSE, URL: "https://x.org/sse"},
		},
		"brave: the question for a value; put it into the variable BRAVE_KEY",
	},
	"VS Code settings": {`{"editor.fontSize": 12, "mcp": {"inputs": [], "servers": {"a": {"command": "a"}}}}`, []Entry{{Command: "a"}}, ""},
	"Zed": {
		`{"context_servers": {"new": {"source": "custom", "enabled": true, "command": "a", "args": ["b"]},
		  "web": {"url": "https://x.org/mcp"}, "z": {"source": "extension", "settings": {}}}}`,
		[]Entry{{Command: "a", Args: []string{"b"}}, {Transport: HTTP, Guessed: true, URL: "https://x.org/mcp"}},
		`server "z": it needs a command`,
	},
	"opencode": {
		`{"$schema": "https://opencode.ai/config.json", "mcp": {"a": {"type": "local", "command": ["bun", "x", "a"], "environment": {"K": "{env:KEY}"}, "enabled": false}, "b": {"type": "remote", "url": "https://x.org", "headers": {"Authorization": "Bearer {env:TOKEN}"}}}}`,
		[]Entry{
			{Command: "bun", Args: []string{"x", "a"}, Env: map[string]string{"K": "${KEY}"}, Disabled: true},
			{Transport: HTTP, Guessed: true, URL: "https://x.org", Headers: map[string]string{"Authorization": "Bearer ${TOKEN}"}},
		},
		"",
	},
	"Windsurf":             {`{"mcpServers": {"a": {"serverUrl": "https://x.org/mcp", "disabledTools": ["rm_*"]}}}`, []Entry{{Transport: HTTP, Guessed: true, URL: "https://x.org/mcp", Deny: []string{"rm_*"}}}, ""},
	"Gemini":               {`{"mcpServers": {"a": {"httpUrl": "https://x.org/mcp", "trust": true, "includeTools": ["get_*"], "excludeTools": ["get_keys"]}, "b": {"command": "b", "env": {"K": "$KEY"}, "args": ["$5"]}}}`, []Entry{{Transport: HTTP, Guessed: true, URL: "https://x.org/mcp", Allow: []string{"get_*"}, Deny: []string{"get_keys"}}, {Command: "b", Env: map[string]string{"K": "${KEY}"}, Args: []string{"$5"}}}, `a: "trust" is not known here`},
	"Gemini, its settings": {`{"mcp": {"allowed": ["a"], "serverCommand": "x"}, "tools": {"core": ["ls"]}, "mcpServers": {"a": {"command": "a"}}}`, []Entry{{Command: "a"}}, ""},
	"Cline, Roo":           {`{"mcpServers": {"a": {"type": "streamableHttp", "url": "https://x.org", "disabled": true, "autoApprove": ["x"], "timeout": 60}, "b": {"type": "streamable-http", "url": "https://y.org", "alwaysAllow": []}}}`, []Entry{{Transport: HTTP, URL: "https://x.org", Disabled: true}, {Transport: HTTP, URL: "https://y.org"}}, `a: "autoApprove"`},
	"Copilot":              {`{"mcpServers": {"a": {"type": "local", "command": "a", "tools": ["get_*", "list"]}, "b": {"command": "b", "tools": "all"}}}`, []Entry{{Command: "a", Allow: []string{"get_*", "list"}}, {Command: "b"}}, `b: "tools" is not known here`},
	"snake case":           {`{"mcpServers": {"a": {"command": "a", "allowed_tools": ["x", "y"], "enabled-tools": ["y", "z"], "disabled_tools": ["v"], "excludeTools": ["w"]}}}`, []Entry{{Command: "a", Allow: []string{"y"}, Deny: []string{"v", "w"}}}, ""},
	"empty lists":          {`{"mcpServers": {"a": {"command": "a", "disabledTools": [], "excludeTools": []}, "b": {"command": "b", "includeTools": []}}}`, []Entry{{Command: "a", Deny: []string{}}, {Command: "b", Allow: []string{}}}, ""},
	"no list":              {`{"mcpServers": {"a": {"command": "a", "disabledTools": "x", "excludeTools": ["y"]}, "b": {"command": "b", "includeTools": [{"name": "x"}], "allowedTools": [{}]}, "c": {"command": "c", "tools": {"include": ["x"], "exclude": ["y"]}}}}`, []Entry{{Command: "c", Allow: []string{"x"}, Deny: []string{"y"}}}, `server "a": tools.deny`},
	"opencode tools":       {`{"tools": {"a_rm*": false, "a_ls": true, "bash": false}, "permission": {"b*": "deny", "edit": "ask"}, "mcp": {"a": {"type": "local", "command": ["a"]}, "b": {"type": "local", "command": ["b"]}}}`, []Entry{{Command: "a", Args: []string{}, Deny: []string{"rm*"}}, {Command: "b", Args: []string{}, Deny: []string{"*"}}}, ""},
	"Amazon Q, Kiro":       {`{"mcpServers": {"a": {"command": "uvx", "args": ["aws"], "env": {"FASTMCP_LOG_LEVEL": "ERROR"}, "timeout": 120000, "disabled": false}}}`, []Entry{{Command: "uvx", Args: []string{"aws"}, Env: map[string]string{"FASTMCP_LOG_LEVEL": "ERROR"}}}, `a: "timeout"`},
}

func TestTheFilesOfOtherClientsAreRead(t *testing.T) {
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
			skipped := strings.Join(found.Skipped, "\n")
			if !strings.Contains(skipped, c.skipped) || c.skipped == "" && skipped != "" {
				t.Errorf("left out: %s\nwant %s", skipped, c.skipped)
			}
		})
	}
}

func TestTheFileOfCodexIsRead(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(dir, "config.toml")
	write(t, from, `model = "o"
[mcp_servers.docs]
command = "npx"
args = ["-y", "docs"]
enabled_tools = ["open", "screenshot"]
disabled_tools = ["screenshot"] # applied after enabled_tools
default_tools_approval_mode = "approve"
tool_timeout_sec = 45
[mcp_servers.docs.tools.open]
approval_mode = "approve"
[mcp_servers.figma]
url = "https://mcp.figma.com/mcp"
http_headers = { "X-Team" = "a" }
enabled = false
`)
	found, err := ReadImport(filepath.Join(dir, "mcp.json"), from)
	if err != nil {
		t.Fatal(err)
	}
	want := []Entry{
		{Name: "docs", Transport: Stdio, Command: "npx", Args: []string{"-y", "docs"}, Allow: []string{"open", "screenshot"}, Deny: []string{"screenshot"}, Level: agent.Confirm},
		{Name: "figma", Transport: HTTP, URL: "https://mcp.figma.com/mcp", Headers: map[string]string{"X-Team": "a"}, Disabled: true, Level: agent.Confirm, Guessed: true},
	}
	if !reflect.DeepEqual(found.Servers, want) {
		t.Errorf("got\n%+v\nwant\n%+v", found.Servers, want)
	}
	for _, key := range []string{"default_tools_approval_mode", "tool_timeout_sec", "tools"} {
		if !strings.Contains(strings.Join(found.Skipped, "\n"), `docs: "`+key+`" is not known here`) {
			t.Errorf("%s: left out %v", key, found.Skipped)
		}
	}
	write(t, from, "mcp_servers = [")
	if _, err := ReadImport(filepath.Join(dir, "mcp.json"), from); err == nil || !strings.Contains(err.Error(), "not valid TOML") {
		t.Errorf("got %v", err)
	}
}

func TestAFileThatHasNoServersIsNotImported(t *testing.T) {
	for text, want := range map[string]string{
		`{"theme": "dark"}`:          "has none",
		`[mcp_servers.a]`:            "not valid JSON",
		`{"mcpServers": "none"}`:     "no object of objects",
		`{"mcpServers": {"a": "b"}}`: "no object of objects",
	} {
		from := filepath.Join(t.TempDir(), "theirs")
		write(t, from, text)
		if _, err := ReadImport(filepath.Join(t.TempDir(), "mcp.json"), from); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func FuzzImport(f *testing.F) {
	for _, c := range clients {
		f.Add([]byte(c.file))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		theirs, err := theirServers(data)
		if err != nil {
			return
		}
		for name, entry := range theirs {
			ours, _ := known(entry)
			_, _ = parseEntry(name, ours)
		}
	})
}
