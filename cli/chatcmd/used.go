package chatcmd

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"slices"

	"lifehub/internal/files"
)

// Limits of the counts. A count above mostUsed halves all counts, so that recent uses weigh more;
// counts that reach zero are removed.
const (
	mostUsed      = 32
	usedFileBytes = 16 << 10
)

// loadUsed returns how often each command was used in earlier runs. An unreadable file counts as
// empty, since the counts only sort a list.
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

// saveUsed writes the counts for later runs if they have changed. Errors are ignored: the list is
// then sorted as before.
func saveUsed(path string, used map[string]int) {
	if maps.Equal(used, loadUsed(path)) {
		return
	}
	data, _ := json.Marshal(used)
	for len(data) > usedFileBytes || slices.ContainsFunc(slices.Collect(maps.Values(used)),
		func(n int) bool { return n > mostUsed }) {
		for name := range used {
			used[name] /= 2
		}
		maps.DeleteFunc(used, func(_ string, n int) bool { return n == 0 })
		data, _ = json.Marshal(used)
	}
	_ = files.Write(path, data)
}
