//go:build unix

package acp_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lifehub/docs"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
)

// block matches a JSON block of a page.
var block = regexp.MustCompile("(?s)```json\n(.*?)```")

// The types have exactly the keys that each editor documents.
func TestPageHasTheSettingsOfEditors(t *testing.T) {
	page, err := docs.Pages.ReadFile("editors.md")
	if err != nil {
		t.Fatal(err)
	}
	type program struct {
		Command string            `json:"command"`
		Args    []string          `json:"args"`
		Env     map[string]string `json:"env"`
	}
	var vscode struct {
		Agents  map[string]program `json:"acp.agents"`
		Approve string             `json:"acp.autoApprovePermissions"`
	}
	var jetbrains struct {
		Servers map[string]program `json:"agent_servers"`
	}
	var zed struct {
		Servers map[string]struct {
			Type    string            `json:"type"`
			Command string            `json:"command"`
			Args    []string          `json:"args"`
			Env     map[string]string `json:"env"`
		} `json:"agent_servers"`
	}
	var acpx struct {
		Agents map[string]struct {
			Argv []string `json:"argv"`
		} `json:"agents"`
	}
	for editor, settings := range map[string]any{
		"VS Code": &vscode, "JetBrains": &jetbrains,
		"Zed": &zed, "Command line": &acpx,
	} {
		_, section, _ := strings.Cut(string(page), "\n## "+editor+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		found := block.FindStringSubmatch(section)
		if found == nil {
			t.Errorf("%s: no settings", editor)
			continue
		}
		settingsOf := json.NewDecoder(strings.NewReader(found[1]))
		settingsOf.DisallowUnknownFields()
		if err := settingsOf.Decode(settings); err != nil {
			t.Errorf("%s: %v", editor, err)
		}
	}
	zedServer := zed.Servers["LifeHub"]
	for editor, argv := range map[string][]string{
		"VS Code":      append([]string{vscode.Agents["LifeHub"].Command}, vscode.Agents["LifeHub"].Args...),
		"JetBrains":    append([]string{jetbrains.Servers["LifeHub"].Command}, jetbrains.Servers["LifeHub"].Args...),
		"Zed":          append([]string{zedServer.Command}, zedServer.Args...),
		"Command line": acpx.Agents["lifehub"].Argv,
	} {
		if argv[0] = filepath.Base(argv[0]); !slices.Equal(argv, []string{"lifehub", "acp"}) {
			t.Errorf("%s starts %q", editor, argv)
		}
	}
	if vscode.Approve != "ask" || zedServer.Type != "custom" {
		t.Errorf("VS Code approves %q, Zed's agent is %q", vscode.Approve, zedServer.Type)
	}
}

// acpx is a client that others wrote: it answers permissions by its flags.
func TestAcpxAsksAndWrites(t *testing.T) {
	testenv.WithoutRace(t)
	acpx := testenv.Acpx(t)
	home := t.TempDir()
	env := environ(t, home, nil)
	vault := indexed(t, env)
	settings := map[string]any{"agents": map[string]any{"lifehub": map[string]any{"argv": []string{
		os.Args[0],
		"acp", "--notes", vault,
	}}}}
	apptest.Write(t, filepath.Join(home, ".acpx", "config.json"), jsonOf(settings))
	for _, step := range []struct {
		flag, question, says string
		exit                 int  // acpx ends with 5 if it denied something
		task                 bool // whether the task is in the notes afterwards
	}{
		{"--deny-all", "how often do I run?", "three times a week", 0, false},
		{"--deny-all", "/task call Ines", "You declined", 5, false},
		{"--approve-all", "/task call Ines", "changed tasks.md", 0, true},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		cmd := exec.CommandContext(ctx, acpx, "--cwd", vault, step.flag, "lifehub", "exec", step.question)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		cancel()
		if cmd.ProcessState.ExitCode() != step.exit || !strings.Contains(string(out), step.says) ||
			!strings.Contains(string(out), "[done] end_turn") {
			t.Errorf("%s %q: %v\n%s", step.flag, step.question, err, out)
		}
		if written := strings.Contains(apptest.Read(t, filepath.Join(vault, "tasks.md")),
			"call Ines"); written != step.task {
			t.Errorf("%s %q: written %v", step.flag, step.question, written)
		}
	}
}
