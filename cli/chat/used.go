package chat

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"slices"

	"lifehub/internal/files"
)

// The bounds of what is counted: a count above mostUsed halves all, so that
// what was used lately weighs more, and those that come to nothing go.
const (
	mostUsed      = 32
	usedFileBytes = 16 << 10
)

// loadUsed returns how often each command was used in earlier runs. A file that
// does not say so counts for nothing: it sorts a list, no more.
func loadUsed(path string) map[string]int {
	used := map[string]int{}
	file, err := os.Open(path)
	if err != nil {
		return used
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, usedFileBytes))
	if err != nil || json.Unmarshal(data, &used) != nil || used == nil {
		return map[string]int{}
	}
	maps.DeleteFunc(used, func(_ string, n int) bool { return n <= 0 || n > mostUsed })
	return used
}

// saveUsed writes the counts for later runs, if there is anything new in them. Where
// that fails, the list is sorted as before.
func saveUsed(path string, used map[string]int) {
	if maps.Equal(used, loadUsed(path)) {
		return
	}
	data, _ := json.Marshal(used)
	for len(data) > usedFileBytes || slices.ContainsFunc(slices.Collect(maps.Values(used)), func(n int) bool { return n > mostUsed }) {
		for name := range used {
			used[name] /= 2
		}
		maps.DeleteFunc(used, func(_ string, n int) bool { return n == 0 })
		data, _ = json.Marshal(used)
	}
	_ = files.Write(path, data)
}
