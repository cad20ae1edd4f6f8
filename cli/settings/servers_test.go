package settings_test

import (
	"path/filepath"
	"strings"
	"testing"

	"lifehub/cli/settings"
	"lifehub/internal/apptest"
)

func TestModelServersOfTheFile(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	file := filepath.Join(t.TempDir(), "config.yaml")
	apptest.Write(t, file, "model: work/m\nproviders:\n  desk: {kind: ollama, url: \"http://ana:secret-pw@192.168.1.5:11434\"}\n"+
		"  work:\n    kind: openai\n    url: https://models.example.org/v1?key=secret-key\n    key_command: op read op://work/key\n")
	c, err := settings.Load(file, none)
	if err != nil || len(c.Servers) != 2 || c.Servers[0].Name != "desk" || len(c.Servers[1].KeyCommand) != 3 {
		t.Fatalf("got %+v, %v", c, err)
	}
	for i, want := range []string{"ollama http://ana:xxxxx@192.168.1.5:11434", "openai https://models.example.org/v1?…, key from the program op"} {
		if row := c.ServerRows()[i]; row.Text() != want || c.Origin[row.Name] == "" {
			t.Errorf("shown as %q from %q, want %q", row.Text(), c.Origin[row.Name], want)
		}
	}
	for text, want := range map[string]string{
		"providers: desk\n":                     ":1: providers: names with their servers are expected",
		"providers:\n  a/b: {kind: ollama}\n":   ":2: providers.a/b: a name is made of letters, digits, dots and dashes",
		"providers:\n  a: {kind: llama}\n":      `:2: providers.a: kind "llama" is not one of ollama, openai`,
		"providers:\n  a: {kind: ollama}\n":     ":2: providers.a: url should look like http://",
		"providers:\n  a: {kind: x, port: 1}\n": `:2: providers.a: unknown field "port"`,
		"providers:\n  a: {key: sk-1}\n":        ":2: providers.a: a key does not belong in this file",
		"providers:\n  a: {kind: openai, url: \"http://h/v1\", key_env: A, key_file: b}\n": ":2: providers.a: one of key_env, key_file and key_command is enough",
	} {
		apptest.Write(t, file, text)
		if _, err := settings.Load(file, none); err == nil || !strings.HasPrefix(err.Error(), file+want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
