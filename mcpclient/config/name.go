package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// maxName is the length of tool names that every model provider accepts.
const maxName = 64

// plainTool matches tool names that can be part of a wire name unchanged.
var plainTool = regexp.MustCompile(`^[A-Za-z0-9-][A-Za-z0-9_-]*$`)

// knownTool matches the tool names that are accepted. The protocol requires no
// more characters; names with look-alike or invisible characters could be
// mistaken for others in a dialog.
var knownTool = regexp.MustCompile(`^[A-Za-z0-9_./:-]{1,128}$`)

var notPlain = regexp.MustCompile(`[^A-Za-z0-9-]+`)

// WireNames returns the names by which the model and the rules know a server's
// tools, by the server's own names. They have the form server_tool; a tool whose
// name already starts with the server's name (brave_web_search of brave) does not
// repeat it. Tools whose names would collide get a digest.
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

// FormerNames returns other names by which rules and saved plans may refer to a
// tool: with the server's name repeated, and without a digest.
func FormerNames(server, tool, name string, reserved func(string) bool) []string {
	return slices.DeleteFunc([]string{WireName(server, tool, reserved), shortName(server, tool, reserved)},
		func(former string) bool { return former == name })
}

func shortName(server, tool string, reserved func(string) bool) string {
	return WireName(server, withoutServer(server, tool), reserved)
}

// withoutServer removes the server's name, in any case and with the separator
// after it, from the start of a tool's name.
func withoutServer(server, tool string) string {
	alike := strings.NewReplacer("-", "_", ".", "_", "/", "_", ":", "_")
	if n := len(server) + 1; len(tool) > n && strings.EqualFold(alike.Replace(tool[:n]), alike.Replace(server)+"_") &&
		plainTool.MatchString(tool[n:]) {
		return tool[n:]
	}
	return tool
}

// WireName combines the names of a server and a tool so that no two pairs share a
// name: underscores in the server's name are doubled, and it never contains two
// in a row, so the first single underscore separates it from the tool. Pairs that
// do not fit (odd or long names, or the name of a built-in tool) get a
// digestName.
func WireName(server, tool string, reserved func(string) bool) string {
	name := WirePrefix(server) + "_" + tool
	if plainTool.MatchString(tool) && len(name) <= maxName && !reserved(name) {
		return name
	}
	return digestName(server, tool)
}

// digestMark contains three underscores, which occur in no plain name.
const digestMark = "___"

// digestName returns a name with a digest of server and tool.
func digestName(server, tool string) string {
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	name := WirePrefix(server) + digestMark + hex.EncodeToString(sum[:10]) + "-" +
		strings.Trim(notPlain.ReplaceAllString(tool, "-"), "-")
	return name[:min(len(name), maxName)]
}

// maxPrefix leaves space for a digest in a wire name.
const maxPrefix = 36

func WirePrefix(server string) string { return strings.ReplaceAll(server, "_", "__") }

// CheckToolName returns an error if a server's name for a tool is not acceptable.
func CheckToolName(tool string) error {
	if !knownTool.MatchString(tool) {
		return fmt.Errorf("tool %q is refused: a tool name has up to 128 characters of A–Z a–z 0–9 _ . / : -", tool)
	}
	return nil
}
