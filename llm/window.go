package llm

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// The windows that LifeHub asks for when no setting says otherwise, in tokens.
// The cache of a window lives in memory next to the model: about 2 GiB for 16k
// tokens of an 8-billion model. Ollama's own default is 4k, which a few notes
// and a conversation overflow.
const (
	smallWindow = 8 << 10
	UsualWindow = 16 << 10
	largeWindow = 32 << 10
)

// DefaultWindow fits the memory of this machine.
func DefaultWindow() int {
	const gib = 1 << 30
	switch memory := totalMemory(); {
	case memory == 0:
		return UsualWindow
	case memory < 7*gib:
		return smallWindow
	case memory > 30*gib:
		return largeWindow
	}
	return UsualWindow
}

// totalMemory is this machine's memory in bytes; 0 if it is unknown.
func totalMemory() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "MemTotal:"); ok {
			kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err != nil {
				return 0
			}
			return kb << 10
		}
	}
	return 0
}

// Suggestion is a model of Ollama's library that uses tools well and fits into
// the memory of this machine.
func Suggestion() string {
	const gib = 1 << 30
	switch memory := totalMemory(); {
	case memory != 0 && memory < 7*gib:
		return "qwen3:1.7b"
	case memory != 0 && memory < 15*gib:
		return "qwen3:4b"
	}
	return "qwen3:8b"
}
