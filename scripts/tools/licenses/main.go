// Licenses writes THIRD_PARTY_LICENSES: the licences and notices of everything that is linked into the
// program on any system it is released for. What no module declares, such as tables and embedded files,
// is described by hand in data/. With -check it only reports whether the file is up to date.
//
//	licenses [-check] DIR
package main

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-licenses/v2/licenses"
	licenseclassifier "github.com/google/licenseclassifier/v2"
	"github.com/google/licenseclassifier/v2/assets"
	"golang.org/x/tools/go/packages"
)

// systems are those of .goreleaser.yaml.
var systems = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// legal matches the names of files that hold a licence or notice.
var legal = regexp.MustCompile(`(?i)(^|-)licen[cs]e|^(copying|copyright|notice|patents)`)

//go:embed data
var data embed.FS

// A part is one section of the file.
type part struct {
	name    string
	version string
	names   []string // of its licences
	about   string
	texts   []string // of its licences and notices
}

func main() {
	check := len(os.Args) == 3 && os.Args[1] == "-check"
	if len(os.Args) != 2 && !check {
		fmt.Fprintln(os.Stderr, "usage: licenses [-check] DIR")
		os.Exit(2)
	}
	if err := run(os.Args[len(os.Args)-1], check); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run(dir string, check bool) error {
	linked, err := linkedPackages(dir)
	if err != nil {
		return err
	}
	parts, err := modules(linked)
	if err != nil {
		return err
	}
	described, err := describedByHand(dir, linked)
	if err != nil {
		return err
	}
	text := format(append(parts, described...))
	file := filepath.Join(dir, "THIRD_PARTY_LICENSES")
	if !check {
		return os.WriteFile(file, text, 0o644)
	}
	if now, err := os.ReadFile(file); err != nil {
		return err
	} else if !bytes.Equal(now, text) {
		return errors.New("THIRD_PARTY_LICENSES is out of date; run: make licenses")
	}
	return nil
}

// linkedPackages returns the packages of the program on all systems, by import path.
func linkedPackages(dir string) (map[string]*packages.Package, error) {
	linked := map[string]*packages.Package{}
	for _, system := range systems {
		goos, goarch, _ := strings.Cut(system, "/")
		list, err := packages.Load(&packages.Config{
			Mode: packages.NeedName | packages.NeedFiles | packages.NeedEmbedFiles | packages.NeedImports |
				packages.NeedDeps | packages.NeedModule,
			Dir: dir,
			Env: append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
		}, ".")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", system, err)
		}
		packages.Visit(list, nil, func(p *packages.Package) {
			for _, wrong := range p.Errors {
				err = cmp.Or(err, fmt.Errorf("%s: %w", system, wrong))
			}
			linked[p.PkgPath] = p
		})
		if err != nil {
			return nil, err
		}
	}
	return linked, nil
}

// modules returns a part for Go and for each linked module.
func modules(linked map[string]*packages.Package) ([]part, error) {
	classifier, err := assets.DefaultClassifier()
	if err != nil {
		return nil, err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("find Go: %w", err)
	}
	goRoot := strings.TrimSpace(string(root))
	files := map[string][]string{goRoot: legalFiles(goRoot)}
	found := map[string]*part{goRoot: {name: "Go", about: "The runtime and the standard library."}}
	for _, path := range slices.Sorted(maps.Keys(linked)) {
		p := linked[path]
		if p.Module == nil || p.Module.Main {
			continue
		}
		if found[p.Module.Dir] == nil {
			found[p.Module.Dir] = &part{name: p.Module.Path, version: p.Module.Version}
		}
		for dir := p.Dir; ; dir = filepath.Dir(dir) {
			files[p.Module.Dir] = append(files[p.Module.Dir], legalFiles(dir)...)
			if dir == p.Module.Dir {
				break
			}
		}
	}
	var parts []part
	for dir, p := range found {
		slices.Sort(files[dir])
		for _, file := range slices.Compact(files[dir]) {
			if err := p.add(classifier, dir, file); err != nil {
				return nil, err
			}
		}
		if len(p.names) == 0 {
			return nil, fmt.Errorf("no known licence in %s", dir)
		}
		parts = append(parts, *p)
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.name, b.name) })
	return parts, nil
}

// legalFiles returns the files of a folder that hold a licence or a notice.
func legalFiles(dir string) (files []string) {
	entries, _ := os.ReadDir(dir) //nolint:errcheck // the linked packages were just read from it
	for _, e := range entries {
		if e.Type().IsRegular() && legal.MatchString(e.Name()) && filepath.Ext(e.Name()) != ".go" {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files
}

// add adds the text of a file in dir and the names of the licences in it. A licence that requires it gets the
// place of the source code; one that forbids the use in the program is an error.
func (p *part) add(classifier *licenseclassifier.Classifier, dir, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for _, match := range classifier.Match(text).Matches {
		if match.MatchType != "License" && match.MatchType != "Header" {
			continue
		}
		switch licenses.LicenseType(match.Name) {
		case licenses.Restricted, licenses.Forbidden:
			return fmt.Errorf("%s has the licence %s, with which LifeHub cannot be distributed", p.name, match.Name)
		case licenses.Reciprocal:
			p.about = fmt.Sprintf("Its source code, which is used unchanged, is at https://%s, version %s, and "+
				"fetched by\n\n"+
				"\tgo mod download %s@%s\n", p.name, p.version, p.name, p.version)
		}
		if !slices.Contains(p.names, match.Name) {
			p.names = append(p.names, match.Name)
		}
	}
	name := filepath.ToSlash(strings.TrimPrefix(file, dir+string(filepath.Separator)))
	p.texts = append(p.texts, name+":\n\n"+plain(text))
	return nil
}

// embedsOthers reports whether a package embeds files that others made: any of a module, and those of the
// program that are not text.
func embedsOthers(p *packages.Package) bool {
	own := p.Module != nil && p.Module.Main
	return slices.ContainsFunc(p.EmbedFiles, func(file string) bool {
		text, err := os.ReadFile(file)
		return !own || err != nil || !utf8.Valid(text)
	})
}

// describedByHand returns the parts of data/. Each names the linked packages that hold it ("./" is the
// program's module), and those that embed what others made have to be named. Its own text can be followed
// by that of files of the repository.
func describedByHand(dir string, linked map[string]*packages.Package) (parts []part, err error) {
	named := map[string]bool{}
	entries, err := fs.ReadDir(data, "data")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		text, err := fs.ReadFile(data, "data/"+e.Name())
		if err != nil {
			return nil, err
		}
		var p part
		var files []string
		head, body, _ := strings.Cut(string(text), "\n\n")
		for line := range strings.Lines(head) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch key {
			case "name":
				p.name = value
			case "licence":
				p.names = []string{value}
			case "in":
				p.about = "In " + strings.Join(strings.Fields(value), ", ") + "."
				for path := range strings.FieldsSeq(value) {
					named[path] = true
				}
			case "files":
				files = strings.Fields(value)
			default:
				return nil, fmt.Errorf("data/%s: unknown line %q", e.Name(), line)
			}
		}
		p.texts = []string{plain([]byte(body))}
		for _, file := range files {
			text, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				return nil, err
			}
			p.texts = append(p.texts, plain(text))
		}
		parts = append(parts, p)
	}
	for _, path := range slices.Sorted(maps.Keys(linked)) {
		p := linked[path]
		if p.Module != nil && p.Module.Main {
			path = "." + strings.TrimPrefix(path, p.Module.Path)
		}
		if embedsOthers(p) && !named[path] {
			return nil, fmt.Errorf("%s embeds files: describe whose they are in scripts/tools/licenses/data", path)
		}
		delete(named, path)
	}
	for path := range named {
		return nil, fmt.Errorf("scripts/tools/licenses/data names %s, which is not in the program", path)
	}
	return parts, nil
}

// plain returns a text without control characters, trailing spaces and surrounding empty lines.
func plain(text []byte) string {
	var lines []string
	for line := range strings.Lines(strings.ToValidUTF8(string(text), "?")) {
		line = strings.Map(func(r rune) rune {
			if r != '\t' && !unicode.IsPrint(r) {
				return -1
			}
			return r
		}, line)
		lines = append(lines, strings.TrimRight(line, " \t"))
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

func format(parts []part) []byte {
	var b bytes.Buffer
	b.WriteString("Third-party licences\n\n" +
		"What LifeHub's binaries contain besides LifeHub itself, on all systems together, with the licences\n" +
		"and notices of each. LifeHub's own licence is in the file LICENSE.\n\n" +
		"`make licenses` generates this file and `make check` compares it.\n\n")
	for _, p := range parts {
		fmt.Fprintf(&b, "    %s: %s\n", p.title(), strings.Join(p.names, ", "))
	}
	for _, p := range parts {
		fmt.Fprintf(&b, "\n%s\n%s\nLicence: %s\n", strings.Repeat("=", 100), p.title(), strings.Join(p.names, ", "))
		if p.about != "" {
			fmt.Fprintf(&b, "%s\n", p.about)
		}
		for _, text := range p.texts {
			fmt.Fprintf(&b, "%s\n\n%s\n", strings.Repeat("-", 100), text)
		}
	}
	return b.Bytes()
}

func (p *part) title() string { return strings.TrimSpace(p.name + " " + p.version) }
