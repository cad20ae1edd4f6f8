package toolchoice

import (
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/args"
	"lifehub/internal/text"
)

// Named returns the tool with this name, or the only one that formerly had it;
// nil if there is none.
func Named(tools []agent.Tool, name string) agent.Tool {
	var former []agent.Tool
	for _, tool := range tools {
		if tool.Spec().Name == name {
			return tool
		}
		if slices.Contains(agent.FormerNames(tool), name) {
			former = append(former, tool)
		}
	}
	if len(former) == 1 {
		return former[0]
	}
	return nil
}

// Find returns a tool by name, ignoring case and how words are joined if no
// name matches exactly.
func Find(tools []agent.Tool, name string) agent.Tool {
	for _, tool := range tools {
		if tool.Spec().Name == name {
			return tool
		}
	}
	return onlyMatch(tools, func(other string) bool { return Fold(other) == Fold(name) })
}

// Meant returns the tool that a model means by a name. The name may have its
// words in another order, or lack a prefix such as the name of a server. It
// returns nil if there is no such tool or several.
func Meant(tools []agent.Tool, name string) agent.Tool {
	if tool := Find(tools, name); tool != nil {
		return tool
	}
	if tool := onlyMatch(tools, func(other string) bool { return args.SameWords(other, name) && sameDirection(other, name) }); tool != nil {
		return tool
	}
	return onlyMatch(tools, func(other string) bool { return strings.HasSuffix(Fold(other), "_"+Fold(name)) })
}

// sameDirection reports whether each preposition such as "to" between two words
// of a name is between the same two in the other: there the order matters.
func sameDirection(name, other string) bool {
	words, others := args.NameWords(strings.ToLower(name)), "_"+Fold(other)+"_"
	for i := 1; i < len(words)-1; i++ {
		if text.StopWord(words[i], "") && !strings.Contains(others, "_"+strings.Join(words[i-1:i+2], "_")+"_") {
			return false
		}
	}
	return true
}

// Fold returns a tool's name in lower case, with words joined by underscores.
func Fold(name string) string { return strings.ToLower(strings.Join(args.NameWords(name), "_")) }

// onlyMatch returns the only tool with a matching name; nil if there is none or
// several.
func onlyMatch(tools []agent.Tool, meant func(name string) bool) (found agent.Tool) {
	for _, tool := range tools {
		if meant(tool.Spec().Name) {
			if found != nil {
				return nil
			}
			found = tool
		}
	}
	return found
}

// NeedsNotes reports whether a built-in tool works on notes, and so is useless
// without a vault.
func NeedsNotes(tool string) bool {
	return tool == "note_links" || strings.HasSuffix(tool, "_note") || strings.HasSuffix(tool, "_notes") ||
		strings.HasSuffix(tool, "_task") || strings.HasSuffix(tool, "_tasks")
}
