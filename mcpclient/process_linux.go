package mcpclient

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// ownGroup starts a child in its own process group, and has the kernel kill it
// when LifeHub dies.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killTagged kills every process whose environment contains the tag. It repeats
// the search a few times, since the processes may be forking.
func killTagged(tag string) {
	for range 5 {
		found := false
		files, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, file := range files {
			env, err := os.ReadFile(file)
			if err != nil || !bytes.Contains(env, []byte(tagName+"="+tag)) {
				continue
			}
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil &&
				syscall.Kill(pid, syscall.SIGKILL) == nil {
				found = true
			}
		}
		if !found {
			return
		}
	}
}
