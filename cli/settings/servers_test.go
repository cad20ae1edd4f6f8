package settings_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"lifehub/cli/settings"
	"lifehub/internal/apptest"
)

func TestModelServersOfTheFile(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	file := filepath.Join(t.TempDir(), "config.yaml")
	apptest.Write(t, file, "model: work/m\nproviders:\n  desk: {kind: ollama, url: "+
		"\"http://ana:secret-pw@192.168.1.5:11434\"}\n"+
		"  work:\n    kind: openai\n    url: https://models.example.org/v1?key=secret-key\n    key_command: op read "+
		"op://work/key\n")
	c, err := settings.Load(file, none)
	if err != nil || len(c.Servers) != 2 || c.Servers[0].Name != "desk" || len(c.Servers[1].KeyCommand) != 3 {
		t.Fatalf("got %+v, %v", c, err)
	}
	for i, want := range []string{
		"ollama http://ana:xxxxx@192.168.1.5:11434",
		"openai https://models.example.org/v1?…, key from the program op",
	} {
		if row := c.ServerRows()[i]; row.Text() != want || c.Origin[row.Name] == "" {
			t.Errorf("shown as %q from %q, want %q", row.Text(), c.Origin[row.Name], want)
		}
	}
	var errs strings.Builder
	for _, text := range []string{
		"providers: desk\n",
		"providers:\n  a/b: {kind: ollama}\n",
		"providers:\n  a: {kind: llama}\n",
		"providers:\n  a: {kind: ollama}\n",
		"providers:\n  a: {kind: x, port: 1}\n",
		"providers:\n  a: {key: sk-1}\n",
		"providers:\n  a: {kind: openai, url: \"http://h/v1\", key_env: A, key_file: b}\n",
	} {
		apptest.Write(t, file, text)
		_, err := settings.Load(file, none)
		if err == nil {
			t.Fatalf("%q has no error", text)
		}
		fmt.Fprintf(&errs, "%q\n\t%s\n", text, strings.ReplaceAll(err.Error(), file, "FILE"))
	}
	golden.RequireEqual(t, errs.String())
}
