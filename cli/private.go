package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// makePrivate takes the files of LifeHub's settings from everybody but their
// owner, and tells which others could read. A settings file that holds a
// secret and cannot be made private is an error.
func makePrivate(p paths, c *Config) (notices []string, err error) {
	if runtime.GOOS == "windows" { // its modes tell nothing
		return nil, nil
	}
	var open []string
	for _, file := range []string{p.settings(), p.permissions(), p.servers(), p.folders(), p.trust()} {
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm()&0o077 == 0 || !info.Mode().IsRegular() {
			continue
		}
		err = os.Chmod(file, info.Mode().Perm()&0o700)
		switch {
		case err == nil:
			open = append(open, file)
		case file == p.settings() && holdsSecret(c, file):
			return nil, usageError{Err: fmt.Errorf("%s holds a key, and others can read it: chmod 600 %s", file, file)}
		case !errors.Is(err, fs.ErrPermission):
			return nil, fmt.Errorf("make %s private: %w", file, err)
		}
	}
	for _, dir := range []string{p.config, p.data, p.state} {
		if info, err := os.Stat(dir); err == nil && info.IsDir() && info.Mode().Perm()&0o077 != 0 {
			_ = os.Chmod(dir, info.Mode().Perm()&0o700) // doctor tells of one that stays open
		}
	}
	if len(open) > 0 {
		names := make([]string, len(open))
		for i, file := range open {
			names[i] = filepath.Base(file)
		}
		notices = append(notices, fmt.Sprintf("others could read %s; only you can now", strings.Join(names, ", ")))
	}
	return notices, nil
}

// holdsSecret tells whether a secret was set by the settings file.
func holdsSecret(c *Config, file string) bool {
	for _, s := range settings(c) {
		if s.quiet && strings.HasPrefix(c.origin[s.name], file+":") {
			return true
		}
	}
	return false
}
