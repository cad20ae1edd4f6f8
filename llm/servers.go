package llm

import "strings"

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
