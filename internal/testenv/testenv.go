// Package testenv locates real components that tests use and that are not part of
// a plain checkout: shared corpora, an Ollama server, and, from npm, MCP servers,
// a Chroma server, an editor's SDK. If a component is missing, the
// test is skipped with a message that explains how to get it. With
// LIFEHUB_STRICT=1 the test fails instead, so that CI cannot pass by skipping.
package testenv

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Shared returns the path of a file or folder of the shared material, which is in
// LIFEHUB_SHARED, or in ../shared next to the module.
func Shared(t testing.TB, path string) string {
	t.Helper()
	root := os.Getenv("LIFEHUB_SHARED")
	if root == "" {
		root = filepath.Join(filepath.Dir(Root(t)), "shared")
	}
	return need(t, filepath.Join(root, filepath.FromSlash(path)), "../shared: "+path,
		"set LIFEHUB_SHARED to its folder")
}

// Ollama returns the path of the Ollama server built by `make ollama`.
func Ollama(t testing.TB) string {
	t.Helper()
	return need(t, filepath.Join(cache(t), "bin", program("ollama")), "a real Ollama server", "make ollama")
}

// Tmux returns the path of tmux, with which tests simulate a user at a terminal.
func Tmux(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("tmux")
	if err != nil {
		absent(t, "tmux", "install it")
	}
	return path
}

// Program returns the path of a program of another package of the system.
func Program(t testing.TB, name, from string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		absent(t, name, "install "+from)
	}
	return path
}

// Npm returns the start script of an MCP server from npm by package name, such as
// @modelcontextprotocol/server-everything.
func Npm(t testing.TB, pkg string) string {
	t.Helper()
	node(t, pkg)
	_, name, _ := strings.Cut(pkg, "/")
	if name == "" {
		name = pkg
	}
	modules := filepath.Join(cache(t), "npm", "node_modules")
	bin := filepath.Join(modules, ".bin", "mcp-"+name)
	if _, err := os.Stat(bin); err != nil {
		bin = filepath.Join(modules, ".bin", name)
	}
	return need(t, bin, pkg+" from npm", "make npm")
}

// Opencode returns the path of opencode, a program that uses MCP servers.
func Opencode(t testing.TB) string {
	t.Helper()
	modules := filepath.Join(cache(t), "opencode", "node_modules")
	// only those for this system are installed
	found, _ := filepath.Glob(filepath.Join(modules, "opencode-*-*", "bin", "opencode*"))
	if len(found) == 0 {
		absent(t, "opencode from npm", "scripts/npm.sh opencode")
	}
	return found[len(found)-1] // the variant for any CPU
}

// Inspector returns the start script of MCP's inspector, which accepts --cli.
func Inspector(t testing.TB) string {
	t.Helper()
	node(t, "MCP's inspector")
	return need(t, filepath.Join(cache(t), "inspector", "node_modules", ".bin", "mcp-inspector"),
		"MCP's inspector from npm", "make npm")
}

// Editor returns the command that runs a script acting as an editor, and the SDK
// of the Agent Client Protocol for the script.
func Editor(t testing.TB) (program, sdk string) {
	t.Helper()
	sdk = filepath.Join(cache(t), "acp", "node_modules", "@agentclientprotocol", "sdk", "dist",
		"v1", "stable", "acp.js")
	return node(t, "an editor"), need(t, sdk, "the Agent Client Protocol's SDK from npm", "make npm")
}

// Acpx returns the start script of acpx, a command-line client of the Agent Client Protocol.
func Acpx(t testing.TB) string {
	t.Helper()
	node(t, "acpx")
	return need(t, filepath.Join(cache(t), "acpx", "node_modules", ".bin", "acpx"), "acpx from npm", "make npm")
}

// node returns the path of Node.js; what is the purpose, for the message.
func node(t testing.TB, purpose string) string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		absent(t, "node, to run "+purpose, "install Node.js")
	}
	return path
}

// Root returns the folder that contains go.mod.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the working directory")
		}
		dir = parent
	}
}

// cache returns the folder in which make targets store large files.
func cache(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("LIFEHUB_TEST_CACHE"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		absent(t, "a cache folder", "set LIFEHUB_TEST_CACHE")
	}
	return filepath.Join(dir, "lifehub")
}

// CompiledPDFium returns the folder of the compiled code of PDFium, which tests share with those of
// other processes and runs: compiling it takes two seconds of CPU time.
func CompiledPDFium(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(cache(t), "pdfium")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func need(t testing.TB, path, name, advice string) string {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		absent(t, name, advice)
	}
	return path
}

func absent(t testing.TB, name, advice string) {
	t.Helper()
	if os.Getenv("LIFEHUB_STRICT") == "1" {
		t.Fatalf("needs %s (%s), and LIFEHUB_STRICT=1 forbids to skip", name, advice)
	}
	t.Skipf("needs %s (%s)", name, advice)
}

func program(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}
