package llm

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// Windows that LifeHub requests if no setting says otherwise, in tokens. The KV
// cache of a window is held in memory in addition to the model: about 2 GiB for
// 16k tokens of a model with 8 billion parameters. Ollama's default of 4k is too
// small for a few notes and a conversation.
const (
	smallWindow = 8 << 10
	UsualWindow = 16 << 10
	largeWindow = 32 << 10
)

// DefaultWindow returns a window that fits this machine's memory.
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

// totalMemory returns this machine's memory in bytes; 0 if unknown.
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

// Suggestion returns the name of a model in Ollama's library that uses tools well
// and fits this machine's memory.
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
