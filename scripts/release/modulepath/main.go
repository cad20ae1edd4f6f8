// Modulepath gives the module in a folder another path: in its go.mod and that of tools/eval, and
// in the imports of the Go files that git tracks. Nothing else is changed.
//
//	go run ./modulepath FOLDER github.com/OWNER/lifehub
package main

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: modulepath FOLDER MODULE")
		os.Exit(2)
	}
	if err := rename(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "modulepath:", err)
		os.Exit(1)
	}
}

// rename gives the module in a folder another path.
func rename(folder, module string) error {
	old, err := output(folder, "go", "list", "-m")
	if err != nil {
		return err
	}
	tracked, err := output(folder, "git", "ls-files", "-z", "--", "*.go")
	if err != nil {
		return err
	}
	old = strings.TrimSpace(old)
	if _, err := output(folder, "go", "mod", "edit", "-module", module); err != nil {
		return err
	}
	// The measurements import packages that only paths below the module's may.
	if _, err := output(filepath.Join(folder, "tools", "eval"), "go", "mod", "edit", "-module", module+"/tools/eval",
		"-droprequire", old, "-dropreplace", old, "-require", module+"@v0.0.0", "-replace", module+"=../.."); err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(tracked, "\x00"), "\x00") {
		if err := renameImports(filepath.Join(folder, name), old, module); err != nil {
			return err
		}
	}
	return nil
}

func output(folder, name string, arg ...string) (string, error) {
	cmd := exec.Command(name, arg...)
	cmd.Dir = folder
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	return string(out), nil
}

// renameImports rewrites the imports of a file of packages of the module.
func renameImports(file, old, module string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, text, parser.ImportsOnly)
	if err != nil {
		return err
	}
	changed := text
	for _, imported := range slices.Backward(parsed.Imports) {
		path, err := strconv.Unquote(imported.Path.Value)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if below, ok := strings.CutPrefix(path, old+"/"); ok {
			from, to := files.Position(imported.Path.Pos()).Offset, files.Position(imported.Path.End()).Offset
			changed = slices.Concat(changed[:from], []byte(strconv.Quote(module+"/"+below)), changed[to:])
		}
	}
	if bytes.Equal(changed, text) {
		return nil
	}
	return os.WriteFile(file, changed, 0o644)
}
