package prompt

import (
	"slices"
	"strings"
	"unicode"

	"lifehub/agent"
)

// Named returns the tool with this name, or the only one that formerly had it;
// nil if there is none.
func Named(tools []agent.Tool, name string) agent.Tool {
	var former []agent.Tool
	for _, tool := range tools {
		if tool.Spec().Name == name {
			return tool
		}
		if slices.Contains(tool.Properties().FormerNames, name) {
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
	return onlyMatch(tools, func(tool agent.Tool) bool { return Fold(tool.Spec().Name) == Fold(name) })
}

// Meant returns the tool that a model means by a name, which may lack the name of the tool's MCP server; nil if
// there is no such tool or several.
func Meant(tools []agent.Tool, name string) agent.Tool {
	if tool := Find(tools, name); tool != nil {
		return tool
	}
	return onlyMatch(tools, func(tool agent.Tool) bool {
		server := agent.PropertiesOf(tool).Server
		return server != "" && Fold(tool.Spec().Name) == Fold(server+"_"+name)
	})
}

// words splits a name at punctuation and before capitals.
func words(name string) []string {
	var parted strings.Builder
	small := false
	for _, r := range name {
		if small && unicode.IsUpper(r) {
			parted.WriteByte(' ')
		}
		small = unicode.IsLower(r) || unicode.IsDigit(r)
		parted.WriteRune(r)
	}
	return strings.FieldsFunc(parted.String(), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Fold returns a tool's name in lower case, with words joined by underscores.
func Fold(name string) string { return strings.ToLower(strings.Join(words(name), "_")) }

// onlyMatch returns the only tool that is meant; nil if there is none or several.
func onlyMatch(tools []agent.Tool, meant func(tool agent.Tool) bool) (found agent.Tool) {
	for _, tool := range tools {
		if meant(tool) {
			if found != nil {
				return nil
			}
			found = tool
		}
	}
	return found
}
