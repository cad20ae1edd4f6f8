package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// arrows lists who may import whom inside the module. cli may import all.
var arrows = map[string][]string{
	"lifehub":                  {"cli"},
	"lifehub/agent":            {"llm", "internal/pattern"},
	"lifehub/agent/tools":      {"agent", "llm", "notes", "internal/pattern", "rag"},
	"lifehub/llm":              {"internal/pattern"},
	"lifehub/llm/llmtest":      {"llm", "llm/llmtest/tinygguf", "internal/testenv"},
	"lifehub/mcpclient":        {"agent", "llm", "internal/pattern"},
	"lifehub/notes":            {"internal/pattern"},
	"lifehub/internal/pattern": {},
	"lifehub/rag":              {"llm", "notes", "internal/pattern"},
	"lifehub/examples":         {},
	"lifehub/cli/version":      {},
	"lifehub/rag/eval":         {"llm", "notes", "rag"},
	"lifehub/store":            {"agent", "llm"},
	"lifehub/tui":              {"agent", "llm", "internal/pattern", "tui/markdown", "tui/measure", "tui/safetext", "tui/terminal"},
	"lifehub/tui/markdown":     {"tui/measure", "tui/safetext"},
	"lifehub/tui/measure":      {},
	"lifehub/tui/safetext":     {},
	"lifehub/tui/terminal":     {},
}

// onlyTests are packages that nothing which ships may import.
var onlyTests = []string{
	"lifehub/llm/llmtest", "lifehub/internal/hostile", "lifehub/internal/mcptest", "lifehub/internal/survive",
	"lifehub/internal/testenv", "lifehub/internal/ttytest", "lifehub/internal/webtest",
}

func TestPackagesImportOnlyAlongTheArrows(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("list packages: %v", err)
	}
	seen := 0
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.ImportPath == "lifehub/cli" || isOnlyForTests(p.ImportPath) {
			continue
		}
		seen++
		allowed, listed := arrows[p.ImportPath]
		if !listed {
			t.Errorf("%s stands on no map: add it to the arrows and to the README", p.ImportPath)
			continue
		}
		for _, imported := range p.Imports {
			inside, ok := strings.CutPrefix(imported, "lifehub/")
			if ok && !slices.Contains(allowed, inside) {
				t.Errorf("%s imports %s, against the arrows", p.ImportPath, imported)
			}
		}
	}
	if seen < 8 {
		t.Errorf("looked at %d packages, which is not the whole house", seen)
	}
}

func TestNothingThatShipsImportsWhatIsForTests(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatalf("list what the binary is made of: %v", err)
	}
	for path := range strings.Lines(string(out)) {
		if isOnlyForTests(strings.TrimSpace(path)) {
			t.Errorf("the binary holds %s", strings.TrimSpace(path))
		}
	}
}

func isOnlyForTests(path string) bool {
	return slices.ContainsFunc(onlyTests, func(prefix string) bool { return strings.HasPrefix(path, prefix) })
}

func TestEachDependencyEarnsItsLine(t *testing.T) {
	page, err := os.ReadFile("docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{if not (or .Main .Indirect)}}{{.Path}}{{end}}", "all").Output()
	if err != nil {
		t.Fatalf("list dependencies: %v", err)
	}
	for path := range strings.FieldsSeq(string(out)) {
		name := strings.TrimPrefix(strings.TrimPrefix(path, "charm.land/"), "github.com/charmbracelet/")
		if !strings.Contains(string(page), path) && !strings.Contains(string(page), name) {
			t.Errorf("docs/dependencies.md does not say why %s is here", path)
		}
	}
}
