package mcpclient

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"lifehub/pattern"
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

// wireName is the name by which the model and the rules know a server's tool:
// server_tool. No two pairs share one: an underscore of the server's name is
// doubled, and a server's name holds no two in a row, so that the first
// single underscore is where the tool begins. A pair that cannot be written
// so (an odd or long name, or one that a built-in tool has) gets a third
// underscore, which no plain name has, and a digest of both.
func wireName(server, tool string, reserved func(string) bool) string {
	prefix := wirePrefix(server)
	name := prefix + "_" + tool
	if plainTool.MatchString(tool) && len(name) <= maxName && !reserved(name) {
		return name
	}
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	name = prefix + "___" + hex.EncodeToString(sum[:10]) + "-" + strings.Trim(notPlain.ReplaceAllString(tool, "-"), "-")
	return name[:min(len(name), maxName)]
}

// maxPrefix leaves room for a digest in a wire name.
const maxPrefix = 36

func wirePrefix(server string) string { return strings.ReplaceAll(server, "_", "__") }

// checkToolName says what is wrong with the name that a server gives a tool.
func checkToolName(tool string) error {
	if !knownTool.MatchString(tool) {
		return fmt.Errorf("tool %q is refused: a tool's name is up to 128 of A–Z a–z 0–9 _ . / : -", tool)
	}
	return nil
}
