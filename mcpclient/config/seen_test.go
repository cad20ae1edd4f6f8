package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRemovedServerMustBeReviewedAgain(t *testing.T) {
	server := Entry{Name: "s", Command: "a"}
	trust := adopted(t, server)
	if changes, err := trust.Entry(server); err != nil || len(changes) != 0 {
		t.Errorf("got %+v, %v", changes, err)
	}
	if err := trust.Forget("s"); err != nil {
		t.Fatal(err)
	}
	if changes, err := trust.Entry(server); err != nil || len(changes) != 1 || changes[0].Before != "" {
		t.Errorf("got %+v, %v", changes, err)
	}
}

func TestToolMayBeNamedLikeAKindOfChange(t *testing.T) {
	trust := adopted(t, Entry{Name: "s", Command: "a"})
	if err := trust.Accept("s", []Change{{What: toolChange + "entry", After: "x"}}); err != nil {
		t.Fatal(err)
	}
	if changes, err := trust.Entry(Entry{Name: "s", Command: "a"}); err != nil || len(changes) != 0 {
		t.Errorf("a tool's name changed what is known of the entry: %+v, %v", changes, err)
	}
}

func TestDamagedTrustFileIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trust.json")
	put(t, file, `{"s": {"defin`)
	if _, err := OpenTrust(file); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("got %v", err)
	}
}

func TestDefinitionContainsNoSecrets(t *testing.T) {
	s := Entry{
		Name: "s", Transport: HTTP, URL: "https://x.org/${KEY}", Env: map[string]string{"TOKEN": "hunter2"},
		Headers: map[string]string{"Authorization": "Bearer hunter2"},
	}
	if text := definition(s); strings.Contains(text, "hunter2") || !strings.Contains(text, "TOKEN") ||
		!strings.Contains(text, "Authorization") {
		t.Errorf("got %q", text)
	}
}

func adopted(t *testing.T, server Entry) *Trust {
	t.Helper()
	trust, err := OpenTrust(filepath.Join(t.TempDir(), "trust.json"))
	if err == nil {
		_, err = trust.Adopt([]Entry{server})
	}
	if err != nil {
		t.Fatal(err)
	}
	return trust
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
