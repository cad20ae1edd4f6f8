package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"lifehub/internal/pattern"
)

// maxName is the longest tool name that every model provider takes.
const maxName = 64

// plainTool is a tool name that can stand in a wire name as it is.
var plainTool = pattern.Lazy(`^[A-Za-z0-9-][A-Za-z0-9_-]*$`)

// knownTool is what a tool may be called at all. The protocol asks for no
// more than this; a name with look-alike or invisible characters could pass
// for another in a dialog.
var knownTool = pattern.Lazy(`^[A-Za-z0-9_./:-]{1,128}$`)

var notPlain = pattern.Lazy(`[^A-Za-z0-9-]+`)

// WireNames are the names by which the model and the rules know the tools that
// a server lists, by the server's own. They read server_tool; a tool that has
// the server's name in front already (brave_web_search of brave) does not get it
// twice. Tools that would share a name have one with a digest each.
func WireNames(server string, tools []string, reserved func(string) bool) map[string]string {
	names, owner := map[string]string{}, map[string]string{}
	for _, tool := range tools {
		name := shortName(server, tool, reserved)
		if other, taken := owner[name]; taken && other != tool {
			names[other], names[tool] = digestName(server, other), digestName(server, tool)
			continue
		}
		names[tool], owner[name] = name, tool
	}
	return names
}

// FormerNames are the other names that rules and saved plans may have for a
// tool: with the server's name twice, and without a digest.
func FormerNames(server, tool, name string, reserved func(string) bool) []string {
	return slices.DeleteFunc([]string{WireName(server, tool, reserved), shortName(server, tool, reserved)},
		func(former string) bool { return former == name })
}

func shortName(server, tool string, reserved func(string) bool) string {
	return WireName(server, withoutServer(server, tool), reserved)
}

// withoutServer is a tool's name without the server's own in front of it, in
// any case and before any sign.
func withoutServer(server, tool string) string {
	alike := strings.NewReplacer("-", "_", ".", "_", "/", "_", ":", "_")
	if n := len(server) + 1; len(tool) > n && strings.EqualFold(alike.Replace(tool[:n]), alike.Replace(server)+"_") && plainTool.MatchString(tool[n:]) {
		return tool[n:]
	}
	return tool
}

// WireName writes a server and one of its tools as one name. No two pairs share
// one: an underscore of the server's name is doubled, and a server's name holds
// no two in a row, so that the first single underscore is where the tool begins.
// A pair that cannot be written so (an odd or long name, or one that a built-in
// tool has) has the name of digestName.
func WireName(server, tool string, reserved func(string) bool) string {
	name := WirePrefix(server) + "_" + tool
	if plainTool.MatchString(tool) && len(name) <= maxName && !reserved(name) {
		return name
	}
	return digestName(server, tool)
}

// digestMark is a third underscore, which no plain name has.
const digestMark = "___"

// digestName is a name with a digest of server and tool.
func digestName(server, tool string) string {
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	name := WirePrefix(server) + digestMark + hex.EncodeToString(sum[:10]) + "-" + strings.Trim(notPlain.ReplaceAllString(tool, "-"), "-")
	return name[:min(len(name), maxName)]
}

// maxPrefix leaves room for a digest in a wire name.
const maxPrefix = 36

func WirePrefix(server string) string { return strings.ReplaceAll(server, "_", "__") }

// CheckToolName says what is wrong with the name that a server gives a tool.
func CheckToolName(tool string) error {
	if !knownTool.MatchString(tool) {
		return fmt.Errorf("tool %q is refused: a tool's name is up to 128 of A–Z a–z 0–9 _ . / : -", tool)
	}
	return nil
}
