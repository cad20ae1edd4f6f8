package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lifehub/internal/shape"
)

// arrows lists who may import whom inside the module. cli may import all.
var arrows = map[string][]string{
	"lifehub":                     {"cli"},
	"lifehub/agent":               {"agent/fingerprint", "internal/neterr", "llm", "internal/pattern", "internal/text", "internal/when"},
	"lifehub/agent/fingerprint":   {"internal/pattern", "internal/text"},
	"lifehub/agent/events":        {"agent", "internal/text"},
	"lifehub/agent/provenance":    {"agent", "agent/events", "agent/fingerprint", "internal/pattern"},
	"lifehub/agent/gate":          {"agent", "agent/args", "agent/provenance", "agent/rules", "internal/pattern", "internal/text", "llm"},
	"lifehub/agent/work":          {"internal/neterr", "agent", "agent/args", "agent/events", "agent/gate", "agent/parse", "agent/provenance", "agent/toolchoice", "internal/pattern", "internal/text"},
	"lifehub/agent/toolchoice":    {"agent", "agent/args", "agent/memory", "internal/text", "llm"},
	"lifehub/agent/answer":        {"agent", "agent/args", "agent/citation", "agent/events", "agent/memory", "agent/parse", "agent/prompt", "agent/provenance", "agent/work", "internal/text", "llm", "llm/offline"},
	"lifehub/agent/team":          {"agent", "agent/answer", "agent/parse", "agent/prompt", "agent/provenance", "agent/toolchoice", "agent/work", "internal/text", "llm"},
	"lifehub/agent/turn":          {"agent", "agent/answer", "agent/args", "agent/citation", "agent/events", "agent/fingerprint", "agent/gate", "agent/memory", "agent/parse", "agent/prompt", "agent/provenance", "agent/rules", "agent/team", "agent/toolchoice", "agent/work", "internal/text", "llm"},
	"lifehub/agent/rules":         {"agent", "internal/pattern", "agent/args"},
	"lifehub/agent/args":          {"agent", "internal/pattern", "internal/text", "llm"},
	"lifehub/agent/citation":      {"agent", "internal/arithmetic", "internal/pattern", "internal/text"},
	"lifehub/agent/prompt":        {"agent", "agent/events", "agent/parse", "internal/text", "llm"},
	"lifehub/agent/memory":        {"agent", "agent/citation", "agent/prompt", "internal/text", "llm"},
	"lifehub/agent/parse":         {"internal/pattern"},
	"lifehub/llm":                 {"internal/neterr", "internal/pattern", "internal/text"},
	"lifehub/llm/auto":            {"llm", "llm/offline", "llm/ollama", "llm/openai"},
	"lifehub/llm/servers":         {"llm", "llm/auto"},
	"lifehub/llm/offline":         {"llm", "internal/pattern", "internal/text", "internal/when"},
	"lifehub/llm/ollama":          {"internal/neterr", "llm"},
	"lifehub/llm/openai":          {"internal/neterr", "llm"},
	"lifehub/llm/llmtest":         {"llm", "llm/llmtest/tinygguf", "internal/testenv"},
	"lifehub/notes":               {"internal/pattern", "internal/text", "internal/when", "internal/wrap", "notes/task", "notes/pdf"},
	"lifehub/notes/task":          {"internal/pattern"},
	"lifehub/notes/pdf":           {},
	"lifehub/internal/arithmetic": {"internal/pattern", "internal/text"},
	"lifehub/internal/heap":       {},
	"lifehub/internal/pattern":    {},
	"lifehub/internal/rows":       {},
	"lifehub/internal/text":       {"internal/pattern"},
	"lifehub/internal/when":       {"internal/pattern", "internal/text"},
	"lifehub/internal/wrap":       {},
	"lifehub/docs":                {},
	"lifehub/examples":            {},
	"lifehub/cli/evalmodels":      {"agent", "agent/parse", "agent/prompt", "agent/turn", "cli/app", "cli/command", "cli/settings", "cli/version", "examples", "internal/text", "llm", "notes", "tui/draw", "tui/safetext"},
	"lifehub/cli/export":          {"agent", "cli/settings", "internal/text", "notes", "store", "tui/safetext"},
	"lifehub/cli/prompts":         {"agent", "cli/settings", "llm", "internal/pattern", "notes", "tui/draw"},
	"lifehub/cli/app":             {"cli/prompts", "agent", "agent/fingerprint", "agent/prompt", "internal/text", "agent/toolchoice", "tui/draw", "tui/safetext", "agent/rules", "agent/tools", "agent/tools/mail", "agent/tools/web", "agent/turn", "cli/export", "cli/redact", "cli/settings", "cli/version", "internal/atomicfile", "internal/pattern", "llm", "llm/servers", "mcpclient", "mcpclient/config", "mcpclient/trust", "notes", "rag", "rag/chroma", "rag/embed", "store", "store/file", "store/trace", "agent/memory"},
	"lifehub/cli/acp":             {"agent", "cli/app", "cli/chat", "cli/version", "internal/pattern", "store", "tui/arguments", "tui/backend", "tui/dialog", "tui/draw", "tui/panel", "tui/plan", "tui/safetext", "tui/transcript"},
	"lifehub/cli/chat":            {"cli/prompts", "agent", "agent/tools", "agent/turn", "cli/app", "cli/doctor", "cli/export", "cli/redact", "cli/settings", "examples", "internal/atomicfile", "internal/heap", "internal/pattern", "llm", "llm/ollama", "mcpclient", "mcpclient/trust", "notes", "rag", "store", "store/file", "tui", "tui/backend", "tui/draw", "tui/plain", "tui/safetext"},
	"lifehub/cli/doctor":          {"internal/neterr", "agent", "cli/app", "cli/settings", "cli/version", "llm", "mcpclient", "rag", "rag/chroma", "store", "store/file", "tui/draw"},
	"lifehub/cli/mcpserve":        {"cli/redact", "agent", "agent/args", "agent/citation", "agent/events", "agent/gate", "agent/prompt", "agent/provenance", "agent/rules", "agent/tools", "agent/tools/describe", "agent/turn", "agent/work", "cli/app", "cli/settings", "cli/version", "internal/atomicfile", "internal/pattern", "internal/text", "llm", "notes", "rag", "tui/dialog", "tui/safetext"},
	"lifehub/cli/redact":          {"agent", "cli/settings", "internal/pattern", "mcpclient/config"},
	"lifehub/cli/settings":        {"agent", "internal/pattern", "internal/text", "internal/atomicfile", "tui/draw", "tui/keys", "agent/rules"},
	"lifehub/cli/show":            {"cli/app", "cli/settings", "internal/pattern", "internal/text", "notes", "tui/draw", "tui/reader", "tui/safetext"},
	"lifehub/cli/command":         {"cli/app", "cli/settings", "store", "tui/draw", "tui/safetext"},
	"lifehub/cli/trace":           {"agent", "cli/app", "cli/command", "cli/redact", "cli/settings", "store", "store/trace", "tui", "tui/backend", "tui/draw", "tui/plain", "tui/replay", "tui/safetext"},
	"lifehub/cli/version":         {},

	"lifehub/agent/tools":          {"agent", "agent/memory", "agent/tools/describe", "agent/tools/excerpt", "agent/tools/mail", "agent/tools/web", "internal/pattern", "internal/when", "llm", "notes", "notes/task", "rag", "internal/arithmetic", "internal/text"},
	"lifehub/agent/tools/describe": {"llm"},
	"lifehub/agent/tools/excerpt":  {"agent", "notes", "internal/text"},
	"lifehub/agent/tools/mail":     {"internal/neterr", "agent", "agent/tools/describe", "agent/tools/excerpt", "llm", "internal/text", "internal/pattern"},
	"lifehub/agent/tools/outbound": {"agent"},
	"lifehub/agent/tools/web":      {"internal/neterr", "agent", "agent/tools/describe", "agent/tools/excerpt", "agent/tools/outbound", "internal/pattern", "llm", "notes", "internal/text"},

	"lifehub/rag":         {"llm", "notes", "internal/filelock", "internal/pattern", "internal/rows", "internal/text", "internal/when", "internal/wrap", "rag/chroma", "rag/embed", "rag/passage", "rag/related", "rag/search", "rag/vectors", "rag/watch", "rag/words"},
	"lifehub/rag/watch":   {"notes"},
	"lifehub/rag/related": {"internal/rows", "notes", "rag/search", "rag/words"},
	"lifehub/rag/search":  {"llm", "notes", "internal/pattern", "internal/rows", "internal/text", "internal/when", "rag/embed", "rag/passage", "rag/vectors", "rag/words"},
	"lifehub/rag/chroma":  {"internal/neterr", "rag/vectors", "internal/pattern"},
	"lifehub/rag/eval":    {"llm", "notes", "rag"},
	"lifehub/rag/embed":   {"llm", "rag/passage", "rag/vectors"},
	"lifehub/rag/passage": {"notes", "internal/pattern", "internal/text"},
	"lifehub/rag/vectors": {"internal/wrap", "rag/passage"},
	"lifehub/rag/words":   {"internal/pattern", "internal/rows", "internal/text", "notes", "rag/passage", "rag/vectors"},

	"lifehub/store":       {"agent", "agent/fingerprint", "llm", "internal/pattern", "internal/rows", "internal/text", "internal/wrap", "store/draft", "store/file", "store/trace"},
	"lifehub/store/draft": {"agent", "internal/atomicfile", "internal/wrap", "store/file"},
	"lifehub/store/file":  {"internal/filelock", "internal/wrap"},
	"lifehub/store/trace": {"internal/rows", "internal/wrap", "store/file"},

	"lifehub/mcpclient":         {"agent", "llm", "mcpclient/config", "mcpclient/oauth", "mcpclient/process", "mcpclient/trust", "mcpclient/wire", "internal/pattern", "agent/args", "internal/text"},
	"lifehub/mcpclient/config":  {"agent", "internal/atomicfile", "internal/pattern"},
	"lifehub/mcpclient/oauth":   {"internal/neterr", "internal/atomicfile"},
	"lifehub/mcpclient/process": {"mcpclient/config"},
	"lifehub/mcpclient/trust":   {"agent", "mcpclient/config", "internal/atomicfile"},
	"lifehub/mcpclient/wire":    {"internal/neterr", "internal/text", "mcpclient/config", "internal/pattern"},

	"lifehub/internal/atomicfile": {"internal/wrap"},
	"lifehub/internal/neterr":     {},
	"lifehub/internal/filelock":   {},

	"lifehub/tui":                    {"agent", "tui/backend", "tui/batch", "tui/chats", "tui/composer", "tui/dialog", "tui/draft", "tui/draw", "tui/frame", "tui/keys", "tui/measure", "tui/opening", "tui/panel", "tui/pull", "tui/replay", "tui/safetext", "tui/sidebar", "tui/terminal", "tui/transcript"},
	"lifehub/tui/arguments":          {"tui/safetext"},
	"lifehub/tui/backend":            {"agent", "internal/text", "llm", "tui/draw", "tui/replay", "tui/safetext"},
	"lifehub/tui/composer":           {"agent", "tui/backend", "tui/composer/vi", "tui/draw", "tui/fuzzy", "tui/keys", "tui/measure", "tui/reader", "tui/safetext"},
	"lifehub/tui/batch":              {"agent"},
	"lifehub/tui/composer/vi":        {},
	"lifehub/tui/dialog":             {"agent", "agent/rules", "tui/arguments", "tui/backend", "tui/draw", "tui/keys", "tui/measure", "tui/safetext"},
	"lifehub/tui/draw":               {"internal/pattern", "internal/text", "tui/fuzzy", "tui/markdown/layout", "tui/measure", "tui/safetext"},
	"lifehub/tui/keys":               {"tui/safetext"},
	"lifehub/tui/markdown":           {"tui/markdown/highlight", "tui/markdown/inline", "tui/markdown/layout", "tui/measure", "tui/safetext"},
	"lifehub/tui/markdown/highlight": {},
	"lifehub/tui/markdown/inline":    {"tui/markdown/layout", "tui/measure", "tui/safetext"},
	"lifehub/tui/markdown/layout":    {"tui/markdown/highlight", "tui/measure"},
	"lifehub/tui/measure":            {},
	"lifehub/tui/panel":              {"agent", "docs", "internal/pattern", "llm", "tui/backend", "tui/composer", "tui/dialog", "tui/draw", "tui/fuzzy", "tui/keys", "tui/markdown", "tui/measure", "tui/reader", "tui/safetext", "tui/transcript", "tui/worddiff"},
	"lifehub/tui/plan":               {"agent", "tui/arguments", "tui/draw", "tui/safetext"},
	"lifehub/tui/plain":              {"agent", "tui/arguments", "tui/backend", "tui/composer", "tui/dialog", "tui/draw", "tui/panel", "tui/plan", "tui/replay", "tui/safetext", "tui/terminal", "tui/transcript"},
	"lifehub/tui/chats":              {"agent", "tui/backend", "tui/panel"},
	"lifehub/tui/draft":              {"agent", "tui/backend"},
	"lifehub/tui/frame":              {"agent", "tui/backend", "tui/dialog", "tui/draw", "tui/keys", "tui/measure", "tui/pull", "tui/safetext", "tui/terminal", "tui/transcript"},
	"lifehub/tui/opening":            {"tui/backend", "tui/keys"},
	"lifehub/tui/pull":               {"tui/backend", "tui/dialog", "tui/draw", "tui/keys", "tui/safetext"},
	"lifehub/tui/reader":             {"tui/draw", "tui/markdown", "tui/markdown/layout", "tui/measure", "tui/safetext"},
	"lifehub/tui/replay":             {"agent", "tui/draw"},
	"lifehub/tui/fuzzy":              {},
	"lifehub/tui/safetext":           {},
	"lifehub/tui/sidebar":            {"tui/backend", "tui/draw", "tui/frame", "tui/plan", "tui/safetext", "tui/transcript"},
	"lifehub/tui/renderer":           {},
	"lifehub/tui/terminal":           {"tui/measure", "tui/renderer"},
	"lifehub/tui/transcript":         {"agent", "internal/text", "tui/draw", "tui/keys", "tui/markdown", "tui/plan", "tui/reader", "tui/safetext"},
	"lifehub/tui/worddiff":           {"internal/pattern"},
}

// onlyTests are packages that nothing which ships may import.
var onlyTests = []string{
	"lifehub/agent/agenttest", "lifehub/llm/llmtest", "lifehub/internal/apptest", "lifehub/internal/chattest", "lifehub/internal/hostile", "lifehub/internal/mcptest", "lifehub/internal/pdftest", "lifehub/internal/survive",
	"lifehub/internal/shape", "lifehub/internal/testenv", "lifehub/internal/ttytest", "lifehub/internal/webtest", "lifehub/tui/boxtest",
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
			t.Errorf("%s stands on no map: add it to the arrows and to docs/architecture.md", p.ImportPath)
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

// limits of a package that fits in a head. Numbers are loose enough to be
// silent for a year; what is above them is a table, or has to be parted.
const (
	maxLines  = 2600 // of a package
	maxCircle = 8    // files of a package of which each needs each other
	maxFields = 30   // of a struct
	maxSpread = 12   // files that hold methods of one type
)

// tables are packages and structs that are flat lists: a command, a tool, a
// setting or a key each. Their numbers may only shrink.
var tables = map[string]int{
	"lifehub/cli lines":                  3100,
	"lifehub/agent/tools lines":          2960,
	"lifehub/tui/keys.Map fields":        93,
	"lifehub/tui/backend.Options fields": 32,
}

// banned are phrases that a reader of the field would stumble over, in comments
// and docs. CONTRIBUTING.md says what to write instead.
var banned = regexp.MustCompile(`\b(tells whether|shall|anew|mends?|mended|foreign text|g(o|oes|one) on with|but for|beside)\b`)

// bannedTexts are phrases that no string for a user may have besides.
var bannedTexts = regexp.MustCompile(`\b(by itself|of its own|it is told|without all that|lies in|has come to|at it right now|g(o|oes|oing) on (where|when)|is no (date|day|file|host|JSON|name|number|object|public|text|version))\b`)

// notForUsers are the files whose strings are for models, or lists of words.
var notForUsers = regexp.MustCompile(`^(agent/(parse|prompt|team|tools)|internal|llm/llmtest|llm/offline/query.go)`)

func TestNoBannedPhrase(t *testing.T) {
	check := func(place, text string) {
		if found := banned.FindString(strings.Join(strings.Fields(text), " ")); found != "" {
			t.Errorf("%s: %q", place, found)
		}
	}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || entry.IsDir() && (entry.Name() == "testdata" || path != "." && strings.HasPrefix(path, ".")):
			return cmp.Or(err, filepath.SkipDir)
		case path == "README.md" || strings.HasPrefix(filepath.ToSlash(path), "docs/") && filepath.Ext(path) == ".md":
			text, err := os.ReadFile(path)
			for i, line := range strings.Split(string(text), "\n") {
				check(fmt.Sprintf("%s:%d", path, i+1), line)
			}
			return err
		case filepath.Ext(path) == ".go":
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, comment := range file.Comments {
				check(files.Position(comment.Pos()).String(), comment.Text())
			}
			if strings.HasSuffix(path, "_test.go") || notForUsers.MatchString(filepath.ToSlash(path)) {
				return nil
			}
			return texts(path, func(at token.Position, text string) {
				check(at.String(), text)
				if found := bannedTexts.FindString(text); found != "" {
					t.Errorf("%s: %q", at, found)
				}
			})
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestPackagesFitInAHead(t *testing.T) {
	packages, err := shape.Measure(".", "./...")
	if err != nil {
		t.Fatal(err)
	}
	unused := maps.Clone(tables)
	check := func(what string, got, limit int) {
		if got <= limit {
			return
		}
		delete(unused, what)
		if table, ok := tables[what]; ok {
			limit = table
		}
		if got > limit {
			t.Errorf("%s: %d, at most %d", what, got, limit)
		}
	}
	for _, p := range packages {
		check(p.Path+" lines", p.Lines, maxLines)
		check(p.Path+" circle", len(p.Circle), maxCircle)
		for name, fields := range p.Fields {
			check(p.Path+"."+name+" fields", fields, maxFields)
		}
		for name, files := range p.Spread {
			check(p.Path+"."+name+" spread", files, maxSpread)
		}
	}
	for what := range unused {
		t.Errorf("%s is within the limits: it needs no exception", what)
	}
}
