package llm

import (
	"slices"
	"strings"
)

// SameModel compares model names as Ollama does: a missing tag means latest.
func SameModel(a, b string) bool {
	full := func(name string) string {
		if !strings.Contains(name[strings.LastIndexByte(name, '/')+1:], ":") {
			name += ":latest"
		}
		return strings.ToLower(name)
	}
	return full(a) == full(b)
}

// TooLong reports whether a server's error message means that the prompt exceeds
// the window.
func TooLong(message string) bool {
	message = strings.ToLower(message)
	return slices.ContainsFunc([]string{
		"exceeds the context", "exceed_context_size", "exceeds the available context", "maximum context length",
		"context_length_exceeded", "context length exceeded", "longer than the context", "exceeds the maximum context",
		"prompt is too long", "exceeds context window", "context window",
	}, func(sign string) bool { return strings.Contains(message, sign) })
}
