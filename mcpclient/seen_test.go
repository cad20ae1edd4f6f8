package mcpclient

import (
	"path/filepath"
	"strings"
	"testing"

	"lifehub/mcpclient/config"
)

func TestAServerThatWasTakenOutMustBeSeenWhenItComesBack(t *testing.T) {
	server := config.Server{Name: "s", Command: "a"}
	trust := openTrust(t, filepath.Join(t.TempDir(), "trust.json"), server)
	if changes, err := trust.entry(server, ""); err != nil || len(changes) != 0 {
		t.Errorf("got %+v, %v", changes, err)
	}
	if err := trust.Forget("s"); err != nil {
		t.Fatal(err)
	}
	if changes, err := trust.entry(server, ""); err != nil || len(changes) != 1 || changes[0].Before != "" {
		t.Errorf("got %+v, %v", changes, err)
	}
}

func TestAToolMayBeCalledLikeAPartOfAServer(t *testing.T) {
	trust := openTrust(t, filepath.Join(t.TempDir(), "trust.json"), config.Server{Name: "s", Command: "a"})
	if err := trust.accept("s", []Change{{What: toolChange + "entry", After: "x"}, {What: toolChange + "program", After: "y"}}); err != nil {
		t.Fatal(err)
	}
	if changes, err := trust.entry(config.Server{Name: "s", Command: "a"}, ""); err != nil || len(changes) != 0 {
		t.Errorf("a tool's name changed what is known of the entry: %+v, %v", changes, err)
	}
}

func TestADamagedTrustFileIsNotTakenForAnEmptyOne(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trust.json")
	write(t, file, `{"s": {"defin`)
	if _, err := OpenTrust(file); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("got %v", err)
	}
}

func TestADefinitionTellsNoSecrets(t *testing.T) {
	s := config.Server{Name: "s", Transport: config.HTTP, URL: "https://x.org/${KEY}", Env: map[string]string{"TOKEN": "hunter2"}, Headers: map[string]string{"Authorization": "Bearer hunter2"}}
	if text := definition(s); strings.Contains(text, "hunter2") || !strings.Contains(text, "TOKEN") || !strings.Contains(text, "Authorization") {
		t.Errorf("got %q", text)
	}
}
