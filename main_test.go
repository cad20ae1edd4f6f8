package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"lifehub/cli"
)

// forbidden lists what a package and those below its folder may not import. A
// type that both need is declared in agent; cli joins them.
var forbidden = []struct {
	importer string
	imported []string
	except   []string
}{
	{importer: "./tui", imported: []string{"./store", "./agent/turn"}},
	{
		importer: "./agent", imported: []string{"./tui", "./store", "./mcpclient", "./rag"},
		except: []string{"./agent/tools"},
	},
	{importer: "./notes", imported: []string{"./agent"}},
	{importer: ".", imported: []string{"./cli"}, except: []string{"./cli"}},
}

// onlyTests are packages that nothing which ships may import.
var onlyTests = []string{
	"./agent/agenttest", "./llm/llmtest", "./internal/apptest", "./internal/chattest", "./internal/hostile",
	"./internal/mcptest", "./internal/pdftest", "./internal/survive",
	"./internal/testenv", "./internal/ttytest", "./internal/webtest", "./tui/boxtest",
}

// list returns what go list prints, with ./ for the module's own path, which its publisher chooses.
func list(t *testing.T, arg ...string) string {
	t.Helper()
	own, err := exec.Command("go", "list", "-m").Output()
	if err != nil {
		t.Fatalf("list the module: %v", err)
	}
	out, err := exec.Command("go", append([]string{"list"}, arg...)...).Output()
	if err != nil {
		t.Fatalf("go list %v: %v", arg, err)
	}
	return strings.ReplaceAll(string(out), strings.TrimSpace(string(own))+"/", "./")
}

func TestImportsKeepTheRules(t *testing.T) {
	out := list(t, "-f", "{{$p := .ImportPath}}{{range .Imports}}{{$p}} {{.}}\n{{end}}", "./...")
	below := func(path string) func(folder string) bool {
		return func(folder string) bool { return strings.HasPrefix(path+"/", folder+"/") }
	}
	for line := range strings.Lines(out) {
		importer, imported, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || !strings.HasPrefix(importer, "./") || isOnlyForTests(importer) {
			continue
		}
		for _, rule := range forbidden {
			if below(importer)(rule.importer) && !slices.ContainsFunc(rule.except, below(importer)) &&
				slices.ContainsFunc(rule.imported, below(imported)) {
				t.Errorf("%s imports %s", importer, imported)
			}
		}
	}
}

func TestShippedCodeImportsNoTestPackages(t *testing.T) {
	for path := range strings.Lines(list(t, "-deps", ".")) {
		if isOnlyForTests(strings.TrimSpace(path)) {
			t.Errorf("the binary holds %s", strings.TrimSpace(path))
		}
	}
}

func isOnlyForTests(path string) bool {
	return slices.ContainsFunc(onlyTests, func(prefix string) bool { return strings.HasPrefix(path, prefix) })
}

func TestDependenciesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{if not (or .Main .Indirect)}}{{.Path}}{{end}}",
		"all").Output()
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

// linkedModules returns each module that is linked on a system of a release, with its version.
func linkedModules(t *testing.T) []string {
	t.Helper()
	var linked []string
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} "+
			"{{.Version}}{{end}}{{end}}", ".")
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("list the modules for %s: %v", system, err)
		}
		linked = append(linked, strings.Split(strings.TrimSpace(string(out)), "\n")...)
	}
	slices.Sort(linked)
	return slices.DeleteFunc(slices.Compact(linked), func(s string) bool { return s == "" })
}

func TestLicencesOfAllThatIsLinked(t *testing.T) {
	for _, module := range linkedModules(t) {
		if !strings.Contains(licences, "\n"+module+"\nLicence: ") {
			t.Errorf("THIRD_PARTY_LICENSES lacks %s; run: make licenses", module)
		}
	}
	for _, want := range []string{
		"\nGo\nLicence: BSD-3-Clause\n", "\nLicence: MPL-2.0\nIts source code",
		"go mod download github.com/philippgille/chromem-go@",
		"Licensed under the Apache License, Version 2.0", "wordfreq", "Universal Sentence Encoder multilingual",
		"WordNet Release 3.0", "UNICODE LICENSE V3", "Pygments",
	} {
		if !strings.Contains(licences, want) {
			t.Errorf("THIRD_PARTY_LICENSES lacks %q", want)
		}
	}
}

func TestLicensesPrintsTheFile(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "printed"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	t.Setenv("LIFEHUB_HOME", t.TempDir())
	args, stdout := os.Args, os.Stdout
	os.Args, os.Stdout = []string{"lifehub", "licenses"}, file
	code := cli.Main(licences, examples)
	os.Args, os.Stdout = args, stdout
	printed, err := os.ReadFile(file.Name())
	if err != nil || code != 0 || string(printed) != licences {
		t.Errorf("exit %d, %v, printed %d bytes of %d", code, err, len(printed), len(licences))
	}
}

func TestReleaseHoldsTheLicences(t *testing.T) {
	text, err := os.ReadFile(".goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	type file struct{ Src, Dst string }
	var release struct {
		Archives []struct{ Files []file }
		Nfpms    []struct {
			Formats  []string
			Contents []file
		}
	}
	if err := yaml.Unmarshal(text, &release); err != nil {
		t.Fatal(err)
	}
	holds := func(files []file) bool {
		return slices.ContainsFunc(files, func(f file) bool { return f.Src == "THIRD_PARTY_LICENSES" })
	}
	for i, archive := range release.Archives {
		if !holds(archive.Files) {
			t.Errorf("archive %d lacks THIRD_PARTY_LICENSES", i)
		}
	}
	for _, packages := range release.Nfpms {
		if !holds(packages.Contents) {
			t.Errorf("%v lack THIRD_PARTY_LICENSES", packages.Formats)
		}
	}
	if len(release.Archives) == 0 || len(release.Nfpms) == 0 {
		t.Error("no archives or no packages")
	}
}

// A name that a module zip cannot hold, such as one with an apostrophe, keeps
// everybody from installing by path; so does a file that is embedded and not in
// it. The zip is of the last commit. `make module-check` also installs from it.
func TestModuleZipHoldsAllThatIsBuilt(t *testing.T) {
	version := module.Version{Path: "example.com/lifehub", Version: "v0.0.0"}
	file, err := os.Create(filepath.Join(t.TempDir(), "module.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	clone := filepath.Join(t.TempDir(), "clone") // CreateFromVCS takes no linked worktree
	if out, err := exec.Command("git", "clone", "--quiet", "--shared", "--no-checkout", ".",
		clone).CombinedOutput(); err != nil {
		t.Fatalf("clone: %v\n%s", err, out)
	}
	if err := zip.CreateFromVCS(file, version, clone, "HEAD", ""); err != nil {
		t.Fatal(err)
	}
	unpacked := filepath.Join(t.TempDir(), "module")
	if err := zip.Unzip(unpacked, version, file.Name()); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "list", "-deps", ".")
	cmd.Dir = unpacked
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("it would not build: %v\n%s", err, out)
	}
}

// A program that was built in a folder of its own module would be in everybody's clone.
func TestNoProgramIsInTheRepository(t *testing.T) {
	list, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		file, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // not committed yet that it is deleted
		} else if err != nil {
			t.Fatal(err)
		}
		var first [4]byte
		_, _ = io.ReadFull(file, first[:]) // a shorter file is none
		file.Close()                       //nolint:errcheck // it was only read
		for _, magic := range []string{"\x7fELF", "MZ\x90\x00", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"} {
			if string(first[:]) == magic {
				t.Errorf("%s is a program", path)
			}
		}
	}
}

// Tables and code may be wider.
func TestProseFitsIn120Columns(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		code := false
		for i, line := range strings.Split(string(text), "\n") {
			begins := strings.TrimLeft(line, " ")
			if strings.HasPrefix(begins, "```") {
				code = !code
			}
			if wide := utf8.RuneCountInString(line); wide > 120 && !code && !strings.HasPrefix(begins, "|") {
				t.Errorf("%s:%d has %d columns", page, i+1, wide)
			}
		}
	}
}

// banned are phrases that a reader of the field would stumble over, in comments
// and docs. CONTRIBUTING.md says what to write instead.
var banned = regexp.MustCompile(`\b(tells whether|shall|anew|mends?|mended|foreign text|g(o|oes|one) on with|but for|` +
	`beside)\b`)

// bannedTexts are phrases that no string for a user may have besides.
var bannedTexts = regexp.MustCompile(`\b(by itself|of its own|it is told|without all that|lies in|has come to|at it ` +
	`right now|g(o|oes|oing) on (where|when)|is no (date|day|file|host|JSON|name|number|object|public|text|version))\b`)

// notForUsers are the files whose strings are for models, or lists of words.
var notForUsers = regexp.MustCompile(`^(agent/(prompt|tools|turn/(delegate|evaluator|roles|team)\.go)|internal|` +
	`llm/llmtest|llm/offline/query.go)`)

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
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	list, err := exec.Command("go", "run", "scripts/strings.go").Output()
	if err != nil {
		t.Fatalf("list the strings: %v", err)
	}
	for line := range strings.Lines(string(list)) {
		place, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if strings.Contains(place, "testdata/") || notForUsers.MatchString(place) {
			continue
		}
		check(place, text)
		if found := bannedTexts.FindString(text); found != "" {
			t.Errorf("%s: %q", place, found)
		}
	}
}
