package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"lifehub/agent"
)

func TestAddAndRemoveKeepOtherContent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lifehub", "mcp.json")
	brave := Entry{
		Name: "brave", Transport: Stdio, Command: "npx", Args: []string{"-y", "brave"},
		Env: map[string]string{"KEY": "${KEY}"}, Timeout: 90 * time.Second,
		Deny: []string{"*_local"}, Level: agent.Confirm,
	}
	docs := Entry{
		Name: "docs", Transport: HTTP, URL: "https://example.org/mcp?a=1&b=2",
		Headers: map[string]string{"Authorization": "Bearer ${TOKEN}"}, Level: agent.Confirm,
	}
	for _, s := range []Entry{docs, brave} {
		if err := Add(file, s); err != nil {
			t.Fatal(err)
		}
	}
	config, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := []Entry{docs, brave}; !reflect.DeepEqual(config.Servers, want) {
		text, _ := os.ReadFile(file)
		t.Errorf("got\n%+v\nwant\n%+v\n%s", config.Servers, want, text)
	}
	if info, _ := os.Stat(file); info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %o", info.Mode().Perm())
	}

	if err := Add(file, brave); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("got %v", err)
	}
	if err := Add(file, Entry{Name: "bad name", Command: "x"}); err == nil ||
		!strings.Contains(err.Error(), "bad name") {
		t.Errorf("got %v", err)
	}
	if err := Remove(file, "docs"); err != nil {
		t.Fatal(err)
	}
	if err := Remove(file, "docs"); err == nil || !strings.Contains(err.Error(), "no such server") {
		t.Errorf("got %v", err)
	}
	if config, err = Read(file); err != nil || len(config.Servers) != 1 || config.Servers[0].Name != "brave" {
		t.Errorf("got %+v, %v", config, err)
	}
}

func TestNameCannotPointIntoAnotherEntry(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mcp.json")
	const text = `{"mcpServers": {"a": {"command": "x", "args": ["y"], "env": {"KEY": "v"}}}}`
	write(t, file, text)
	for _, name := range []string{"a/env", "a/env/KEY", "a/args/0"} {
		for what, err := range map[string]error{"remove": Remove(file, name), "switch": Enable(file, name, false)} {
			if err == nil || !strings.Contains(err.Error(), "no such server") {
				t.Errorf("%s %s: got %v", what, name, err)
			}
		}
	}
	if got, _ := os.ReadFile(file); string(got) != text {
		t.Errorf("it reads %s", got)
	}
}

func TestBrokenMCPJSONIsNotOverwritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mcp.json")
	const broken = `{"mcpServers": {"a": {"command": "x",,}}}`
	write(t, file, broken)
	if err := Add(file, Entry{Name: "b", Command: "y"}); err == nil || !strings.Contains(err.Error(), "mcp.json:1") {
		t.Errorf("got %v", err)
	}
	if got, _ := os.ReadFile(file); string(got) != broken {
		t.Errorf("it reads %s", got)
	}
}

func TestCommentsArePreserved(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mcp.json")
	write(t, file, "{ // mine\n\"mcpServers\": {\n\"a\": {\"command\": \"x\",}, // the first\n}}")
	if err := Add(file, Entry{Name: "b", Command: "y"}); err != nil {
		t.Fatal(err)
	}
	config, err := Read(file)
	text, _ := os.ReadFile(file)
	if err != nil || len(config.Servers) != 2 || !strings.Contains(string(text), "// mine") ||
		!strings.Contains(string(text), "// the first") {
		t.Errorf("got %+v, %v\n%s", config.Servers, err, text)
	}
}

func TestEnableSwitchesAServerOffAndOn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mcp.json")
	write(t, file, `{"mcpServers": {"a": {"command": "x", "disabled": false}, "b": {"command": "y"}}}`)
	for _, on := range []bool{false, true} {
		if err := Enable(file, "a", on); err != nil {
			t.Fatal(err)
		}
		config, err := Read(file)
		if err != nil || config.Servers[0].Disabled == on || config.Servers[0].Command != "x" ||
			config.Servers[1].Disabled {
			t.Errorf("%v: got %+v, %v", on, config.Servers, err)
		}
	}
	if err := Enable(file, "c", true); err == nil {
		t.Error("one that is not there was switched on")
	}
}

// A path that is not UTF-8, written by another program, survives edits, but
// cannot be added.
func TestPathThatIsNotUTF8Survives(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	real, file := filepath.Join(dir, "dotfiles.json"), filepath.Join(dir, "mcp.json")
	const path = "/tmp/latin-\xe9\xff"
	if err := os.WriteFile(real, []byte("\ufeff{\"mcpServers\": {\"old\": {\"command\": \"x\", \"args\": [\""+path+
		"\"], \"env\": {\"A\": \""+path+"\"}}}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, file); err != nil {
		t.Fatal(err)
	}
	if err := Add(file, Entry{Name: "new", Command: "y"}); err != nil {
		t.Fatal(err)
	}
	if err := Enable(file, "new", false); err != nil {
		t.Fatal(err)
	}
	if err := Add(file, Entry{Name: "odd", Command: path}); err == nil || !strings.Contains(err.Error(), "not UTF-8") {
		t.Errorf("got %v", err)
	}
	c, err := Read(file)
	if err != nil || len(c.Servers) != 2 || c.Servers[0].Args[0] != path || c.Servers[0].Env["A"] != path {
		t.Errorf("got %+v, %v", c.Servers, err)
	}
	if info, err := os.Lstat(file); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
}
