// Command sbom writes an SPDX 2.3 document of a binary's modules, as recorded by the Go linker:
// sbom BINARY DOCUMENT. The same binary gives the same bytes.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
)

type pkg struct {
	ID       string `json:"SPDXID"`
	Name     string `json:"name"`
	Version  string `json:"versionInfo"`
	Location string `json:"downloadLocation"`
	License  string `json:"licenseConcluded"`
	Declared string `json:"licenseDeclared"`
	Text     string `json:"copyrightText"`
	Analyzed bool   `json:"filesAnalyzed"`
	Refs     []ref  `json:"externalRefs"`
	Summary  string `json:"comment,omitempty"`
}

type ref struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relation struct {
	From string `json:"spdxElementId"`
	Type string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom BINARY DOCUMENT")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func write(binary, document string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("read %s: %w", binary, err)
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	when := "1970-01-01T00:00:00Z"
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			when = s.Value
		}
	}
	main := newPackage(0, &info.Main)
	main.Summary = "sha256 " + sum + ", " + info.GoVersion
	packages := []pkg{main, newPackage(1, &debug.Module{Path: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go")})}
	relations := []relation{{"SPDXRef-DOCUMENT", "DESCRIBES", main.ID}, {main.ID, "DEPENDS_ON", packages[1].ID}}
	for i, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		p := newPackage(i+2, module)
		packages = append(packages, p)
		relations = append(relations, relation{main.ID, "DEPENDS_ON", p.ID})
	}
	text, err := json.MarshalIndent(map[string]any{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
		"name":              strings.TrimSuffix(filepath.Base(document), ".spdx.json"),
		"documentNamespace": "https://spdx.org/spdxdocs/lifehub-" + sum,
		"creationInfo":      map[string]any{"created": when, "creators": []string{"Tool: lifehub-sbom"}},
		"packages":          packages, "relationships": relations,
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(document, append(text, '\n'), 0o644)
}

func newPackage(n int, m *debug.Module) pkg {
	return pkg{
		ID: fmt.Sprintf("SPDXRef-Package-%d", n), Name: m.Path, Version: m.Version,
		Location: "NOASSERTION", License: "NOASSERTION", Declared: "NOASSERTION", Text: "NOASSERTION",
		Refs: []ref{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + m.Path + "@" + m.Version}},
	}
}
