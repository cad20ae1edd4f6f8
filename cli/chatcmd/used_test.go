package chatcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestUsedCommandsAreCountedAcrossRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "used.json")
	for range 40 {
		used := loadUsed(path)
		used["stats"]++
		if used["theme"] == 0 {
			used["theme"] = 3
		}
		saveUsed(path, used)
	}
	used := loadUsed(path)
	if used["stats"] == 0 || used["stats"] > mostUsed || used["theme"] == 0 || used["theme"] >= used["stats"] {
		t.Errorf("after 40 runs: %v", used)
	}
	before, _ := os.Stat(path)
	if saveUsed(path, used); !same(t, path, before) {
		t.Error("written though nothing was new")
	}
}

func same(t *testing.T, path string, before os.FileInfo) bool {
	t.Helper()
	now, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return os.SameFile(now, before)
}

func TestUsedCommandsAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "used.json")
	used := map[string]int{"stats": 1 << 40}
	for i := range 2000 {
		used[fmt.Sprint(strings.Repeat("long", 10), i)] = 1
	}
	saveUsed(path, used)
	info, err := os.Stat(path)
	if err != nil || info.Size() > usedFileBytes {
		t.Errorf("%v, %v", info, err)
	}
	if used := loadUsed(path); used["stats"] == 0 || used["stats"] > mostUsed {
		t.Errorf("%v", used)
	}
}

func TestDamagedFileCountsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "used.json")
	for _, data := range []string{
		"", "{", "null", "[1]", `{"a":"b"}`, `{"a":1.5}`, `{"a":-1,"b":99999}`, "\x00\xff",
		`{"a":1,` + strings.Repeat(" ", 1<<20) + `"b":1}`,
	} {
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if used := loadUsed(path); used == nil || len(used) > 0 {
			t.Errorf("%.20q: %v", data, used)
		}
	}
}
