package toolchoice

import (
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/args"
	"lifehub/internal/text"
)

// Named is the tool of this name, or the only one that was called so before;
// nil: there is none.
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

// Find finds a tool by its name; letter case and how its words are joined
// do not matter where that is no tool's own name.
func Find(tools []agent.Tool, name string) agent.Tool {
	for _, tool := range tools {
		if tool.Spec().Name == name {
			return tool
		}
	}
	return theOne(tools, func(other string) bool { return Fold(other) == Fold(name) })
}

// Meant is the tool that a model means by a name, which may have its words in
// another order or lack what stands before
// it, as the name of a server; nil: there is none.
func Meant(tools []agent.Tool, name string) agent.Tool {
	if tool := Find(tools, name); tool != nil {
		return tool
	}
	if tool := theOne(tools, func(other string) bool { return args.SameWords(other, name) && sameDirection(other, name) }); tool != nil {
		return tool
	}
	return theOne(tools, func(other string) bool { return strings.HasSuffix(Fold(other), "_"+Fold(name)) })
}

// sameDirection reports whether each word as "to" between two others of a name
// is between the same two in the other: their order means something.
func sameDirection(name, other string) bool {
	words, others := args.NameWords(strings.ToLower(name)), "_"+Fold(other)+"_"
	for i := 1; i < len(words)-1; i++ {
		if text.StopWord(words[i], "") && !strings.Contains(others, "_"+strings.Join(words[i-1:i+2], "_")+"_") {
			return false
		}
	}
	return true
}

// Fold is a tool's name in lower case, its words joined by underscores.
func Fold(name string) string { return strings.ToLower(strings.Join(args.NameWords(name), "_")) }

// theOne is the only tool whose name is the one meant; nil: there is none, or
// another.
func theOne(tools []agent.Tool, meant func(name string) bool) (found agent.Tool) {
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

// NeedsNotes reports whether a built-in tool works on notes, and so is of no use
// without a vault.
func NeedsNotes(tool string) bool {
	return tool == "note_links" || strings.HasSuffix(tool, "_note") || strings.HasSuffix(tool, "_notes") ||
		strings.HasSuffix(tool, "_task") || strings.HasSuffix(tool, "_tasks")
}
